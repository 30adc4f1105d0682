// Package slurmtest has the tests of jobs under Slurm, on two nodes, and of one program under each way to start it.
// They need a cluster: .ci/slurm makes one on this machine for the time of a command, and .ci/run slurm runs them in
// it.
package slurmtest
