// Package realm runs tasks, data movement, locks, barriers and reductions over all ranks of a job, each begun by an
// event and ended by one. It implements the system of the paper "Realm: An Event-Based Low-Level Runtime for
// Distributed Memory Architectures" (PACT 2014). It needs no package mpi, and can live beside it on the same ranks.
//
// An Event is a number. Every operation takes one as its precondition, begins once that has triggered, and returns
// another, which triggers when the operation is over. None of them blocks: a program describes its work ahead, and the
// runtime does each part as soon as it can. Wait is there for the few places that need a result.
//
// An operation that fails poisons its event, with the cause. Whatever depends on it is not done, and poisoned in turn.
package realm
