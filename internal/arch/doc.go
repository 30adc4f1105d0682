// Package arch holds the few instructions that Go's standard library does not offer: a store with release order
// only, a spin-wait hint, and the identity of the calling goroutine.
//
// On amd64 a typed atomic Store compiles to an exchange, which drains the store buffer; when the line is held by
// another core the writer then waits for the whole crossing. A release store is a plain MOV there, and the writer
// goes on. A release store does not order the writer's later loads: code that publishes and then looks whether
// somebody sleeps must use a typed atomic, or let the sleeper issue the fence (see package futex, Membarrier).
//
// Under the race detector the stores are the typed atomics, so that the detector sees the edge.
package arch
