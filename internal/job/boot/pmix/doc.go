// Package pmix is a client of PMIx, the interface between the ranks of a job and launchers such as srun --mpi=pmix and
// prterun. It binds libpmix.so.2 at run time, without cgo. It is for builds with the tag pmix, on Linux, amd64 and
// arm64; elsewhere only its parsers are there. docs/launching.md tells what is used of PMIx, and why.
//
// The library has a thread of its own, which must not call Go. So only calls that block are used, each in a goroutine
// of its own. A caller waits for that goroutine, for the end of its context, or for the loss of the server. A call that
// never returns keeps its goroutine, and the memory that C may still write, until the process ends.
package pmix
