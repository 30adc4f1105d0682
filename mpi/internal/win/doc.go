// Package win has one-sided communication (MPI 4.1, chapter 12): windows of memory that the ranks of a communicator
// reach by put, get and accumulate, and the calls that order these accesses.
//
// A window is a region of package rma on each of its ranks. Puts and gets of memory in one piece are puts and gets of
// that package. All else, such as accumulations and types with holes, travels as a program for the target (program.go),
// which carries one out at a time: so accumulations are atomic. Locks, post and complete are notices (sync.go),
// which are counted in memory where all ranks reach it (head.go). A rank carries out programs and answers notices while
// it is in a call of MPI.
package win
