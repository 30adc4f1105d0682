// Package coll carries out the collectives of a communicator (MPI, chapter 6). Package argument says what the program
// calls. A State is what the collectives of one communicator have in common on a rank. A Call is one that runs: by a
// schedule of messages, or over memory that the ranks of a node share. A RankState is what all communicators of a rank
// have in common.
//
// The package knows a communicator by Env, which is fixed, and by the interface Communicator, for what seldom happens.
// So it lies below the package that makes communicators.
package coll
