// Package hashtable is the concurrent matching table of a message layer: it pairs operations that were posted with
// messages that arrived, by a 64-bit key.
//
// It follows the table of Fult and LCI ("Towards Millions of Communicating Threads", EuroMPI 2016): buckets of one
// cache line, a spin lock in each, a control entry and three key/value entries. Posting or matching an operation
// takes one exchange instruction and touches one line of the table. Three things differ from the original:
//
//   - values are typed nodes that the garbage collector sees, and belong to the caller, so nothing is allocated;
//   - several nodes may wait under one key, and are matched in the order in which they came;
//   - a bucket that overflows borrows further lines from a list kept by the table, and gives them back.
//
// No call blocks in the kernel, switches threads or calls the caller back, except Range; a call may spin while another
// goroutine is inside the same bucket, which takes some tens of nanoseconds.
package hashtable
