// Package reliable turns datagrams, which may be lost, into messages that arrive intact and exactly once. It is the
// core of the UDP conduit, after the usnic transport of Open MPI. docs/design/reliable.md describes the mechanism and
// its reasons.
//
// It does no input or output, starts nothing, takes no lock, reads no clock and draws no random number. Messages,
// packets and times go in. Packets, messages and the time of the next timer come out. The same calls at the same times
// do the same.
//
// An Endpoint is one rank's end. It belongs to one goroutine at a time; no method blocks or switches threads. Times are
// durations since any fixed instant, the same one for all calls, and must not go backwards. The Sink may call Send from
// within its methods, and nothing else of the Endpoint.
package reliable
