// Package exit ends the ranks of a job together. Any rank may call for the end at any time. All ranks then learn of it,
// agree on the greatest exit code, and leave. That takes about log2 N steps and at most 2*ceil(log2 N) messages a rank.
//
// A rank that learns of the end first tells the ranks at distance 1, 2, 4, ... round the circle. So all know after log2
// N hops, whichever rank began. Then dissemination reduces the codes to their maximum. In round k a rank sends the
// greatest code it knows to the rank at distance 2^k, and waits for that of the rank 2^k before it. After the last
// round every rank has the maximum of all. This is the exit of GASNet's Portals conduit, where it replaced an exit of
// N^2 messages.
//
// The package is a state machine: events go in, actions come out. It does no IO, and time is an argument.
package exit
