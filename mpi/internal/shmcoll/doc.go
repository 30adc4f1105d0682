// Package shmcoll lays out memory that ranks of one node share for their collectives.
//
// Each rank has a part of the shared segment, and writes to that part only. Others read it. A part has places for short
// contributions, one for each of the last calls, and a ring of chunks for long ones. Each place begins with a head: a
// line with a sequence number, which is written last and looked at first. So a contribution of up to Inline bytes costs
// a reader one crossing of a cache line.
//
// The package neither waits nor wakes: it gives the words to look at and the values that they are to have. Who uses
// places again only when their readers are done is up to the caller, by Done and Taken.
package shmcoll
