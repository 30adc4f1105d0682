// Package mpi is message passing between the ranks of a job, in Go. It has what MPI calls point to point,
// communicators and collectives. Goroutines, locked OS threads and light-weight threads (package fult) may call it,
// all at once.
//
// A program starts with [Init], which finds the launcher, or runs several ranks in one process with [Run]. Messages
// are slices of any fixed-size type without pointers, structs included; [SendValue] takes any other Go value. Every
// function returns an error for errors.Is. None panics on bad arguments.
//
// The shortest program, which `golci run -n 4` starts as four ranks, and which runs alone as a job of one:
//
//	func main() {
//		p, err := mpi.Init()
//		if err != nil {
//			log.Fatal(err)
//		}
//		c := p.World()
//		fmt.Printf("rank %d of %d\n", c.Rank(), c.Size())
//		if err := p.Finalize(); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// The comment of a function says if it waits. While a light-weight thread waits, other threads of its worker run. A
// goroutine that waits blocks, and makes progress for its rank meanwhile.
//
// Collectives with a name that begins with I do not wait (6.12). Any number of them may be under way. Until the request
// is done the buffers must not be touched, and what is sent must not be changed. A failed start gives the null request.
// Its errors are those of the arguments, and ErrConcurrent while another collective starts or waits. The other errors
// of the collective come with the wait for the request.
//
// Section numbers are those of the MPI standard, version 4.1.
package mpi
