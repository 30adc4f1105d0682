// Package hashtable is the concurrent matching table of a message layer. It pairs posts with arrivals by a 64-bit key.
//
// It follows the table of Fult and LCI ("Towards Millions of Communicating Threads", EuroMPI 2016). A bucket is one
// cache line with a control entry and three entries of key and value. Each has a spin lock. A post or a match takes one
// exchange instruction and touches one line of the table. It differs from the original in three ways:
//
//   - Values are typed nodes that the garbage collector knows. They belong to the caller, so the table allocates none.
//   - Several nodes may wait under one key. They match in the order of their insertion.
//   - A bucket that overflows takes further buckets from a list of the table, and gives them back.
//
// No call blocks in the kernel or switches threads. A call may spin while another goroutine is inside the same bucket,
// usually for some tens of nanoseconds. Range, View, TakeFunc and DrainBucket call a function of the caller there.
package hashtable
