// Package pool keeps the packets of a message layer near the core that touched them last. Every worker has its own
// sub-pool. It takes packets from other sub-pools only when its own is empty.
//
// The package follows the packet pool of Fult and LCI ("Towards Millions of Communicating Threads", EuroMPI 2016). A
// sub-pool is a double-ended queue in a ring of fixed size, with a spin lock. Its worker puts and gets at the top. So
// it gets the packet whose lines are most likely in the cache of its core. A worker without packets steals from the
// bottom of another sub-pool. The packets there have not been touched for longest.
//
// No call blocks in the kernel or switches threads. No call allocates, except for new packets (Options.New). A call may
// spin while another goroutine is inside the same sub-pool, usually for some tens of nanoseconds.
package pool
