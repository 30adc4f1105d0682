// Package abi is the table of what a C program sees of MPI 5.0: its functions with their arguments, its constants with
// the values of the standard's ABI (chapter 20), and its types. The table is two texts, functions.txt and
// constants.txt. From it come the header mpi.h and the C side of the library in capi.
//
// The package does no IO. Command mpi/internal/abigen writes the files.
package abi
