// Package core is MPI on bytes: ranks of a job, communicators, point to point, requests and collectives. It knows
// addresses, lengths and what elements are compared by, but no type of the program.
//
// Package mpi is its face for Go. A Comm, Proc, Request or Message there is the object of this package under another
// type, so that a call costs no more. The comments of package mpi say what the operations do, and which errors they
// give; those here say what is different.
//
// Collectives are carried out by package coll, to which a Comm shows itself by its Communicator and its Env.
package core
