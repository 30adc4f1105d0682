// Package pool keeps the packets of a message layer where they were last touched: every worker has its own small pool
// and takes from the others only when that is empty.
//
// It follows the packet pool of Fult and LCI ("Towards Millions of Communicating Threads", EuroMPI 2016). A sub-pool is
// a double-ended queue in a ring of fixed size behind a spin lock. Its worker puts and gets at the top, so that it works
// with the packet whose lines its core has most likely still got; a worker without packets steals at the bottom of
// another, where the packets lie that have not been touched for longest.
//
// Nothing here blocks in the kernel, switches threads or allocates (but see Options.New); a call may spin while another
// goroutine is inside the same sub-pool, which takes some tens of nanoseconds.
package pool
