// Package exit is how the ranks of a job end together: any rank may call for the end at any time, and all learn of
// it, agree on the greatest exit code, and go, in about log2 N steps of at most 2*ceil(log2 N) messages a rank.
//
// A rank that learns of the end first tells the ranks at distance 1, 2, 4, ... and so on round the circle, so that all know
// after log2 N hops, whoever has begun. Then the codes are reduced to their maximum by dissemination: in round k a rank
// sends what it knows to the one at distance 2^k and waits for the one 2^k before it; after the last round everybody has
// everybody's code. This is the exit of GASNet's Portals conduit, which came to it after an exit of N^2 messages.
//
// The package is a state machine: what has happened goes in, what is to be done comes out. It does no IO and is told
// the time.
package exit
