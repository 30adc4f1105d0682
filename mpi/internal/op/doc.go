// Package op has the operations of reductions (6.9 of MPI 5.0): the predefined ones for all datatypes that the standard
// allows, and those of the program. An operation combines arrays of elements in memory. The package does no IO, and
// knows no rank. docs/design/mpi-collectives.md tells what NaN, zeros and overflow give.
package op
