// Package dtype is the engine of datatypes: what a type of MPI is, and how its data move between the places that it
// names and packed bytes. It follows chapter 5 of MPI 5.0. All counts, sizes and displacements have 64 bits.
//
// Constructors make a Type out of others. A Type does not change. Commit, or its first use, makes the program that
// moves its data: runs, strides, lists and loops, with adjacent pieces merged. A Cursor is a number of elements in
// memory. It packs and unpacks from any byte of them on, and keeps no state in between, so pieces may come in any
// order. The package does no IO, and knows no rank.
package dtype
