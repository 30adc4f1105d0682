// Package mpitest makes random programs of package mpi from a seed. Each rank executes its part of a program and
// compares what it gets with what the serial model says. Random choices of a step depend on the seed of the step and on
// the ranks that execute it, never on settings or on time. So a program ends alike with all settings, and a list of
// steps from which some are left out is a program, too.
package mpitest
