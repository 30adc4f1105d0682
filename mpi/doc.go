// Package mpi is message passing between the ranks of a job, in Go: what MPI calls point to point, communicators and
// collectives, called from goroutines, from locked OS threads and from light-weight threads (package fult), all at once.
//
// A program starts with [Init], which finds the launcher, or runs several ranks in one process with [Run]. Messages are
// slices of any fixed-size type without pointers, structs included; [SendValue] takes any other Go value. Every function
// returns an error to be tested with errors.Is, and none panics on bad arguments.
//
// Functions that wait say so. From a light-weight thread such a wait lets other threads of the worker run; from a goroutine it
// blocks that goroutine, which makes progress for its rank meanwhile.
//
// Section numbers are those of the MPI standard, version 4.1.
package mpi
