//go:build linux

// Package main is the C library of golci, libmpi_abi.so. It has the standard ABI of MPI 5.0. It is a module of its own,
// so that no other build needs a C compiler.
//
//	go build -buildmode=c-shared -ldflags=-extldflags=-Wl,-soname,libmpi_abi.so.1 -o libmpi_abi.so .
//
// The C files have the functions; mpi/internal/abigen makes the table of shim.c. The Go files have what the C files
// call, by way of calls.h, on package core.
package main

// #cgo CFLAGS: -I${SRCDIR}/../../internal/abi -O2 -Wall -Wextra -Wno-unused-parameter
// #cgo LDFLAGS: -Wl,--wrap=_cgo_wait_runtime_init_done
import "C"

func main() {}
