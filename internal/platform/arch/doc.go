// Package arch has operations that the standard library of Go lacks: a store with release order only, a copy into
// memory that another core has had, a hint for spinning, and the identity of the calling goroutine.
//
// On amd64 a typed atomic Store compiles to an exchange, which drains the store buffer. If another core holds the
// line, the writer waits until the line has come. A release store is a plain MOV on amd64, and the writer goes on at
// once. A release store does not order the writer's later loads. Some code publishes and then looks for a sleeper. It
// must use a typed atomic, or the sleeper must issue the fence (futex.Membarrier).
//
// On other processors, and under the race detector, these stores are typed atomics. So the detector sees their order.
package arch
