// Package rank brings up one rank of a job and ends it, with conduit, active messages, progress and a scheduler of
// light-weight threads. A program that wants threads, active messages or remote memory without MPI starts from one call
// of [Start], or of [Local] for several ranks in one process. Package mpi starts from the same calls.
//
// Packages above, such as comm and am/rma, work on a rank that exists: they register their handlers on its endpoint,
// and with [Rank.Attach] what the rank cannot know of them. Several of them may live on one rank.
//
// What concerns the whole process is done only if the Config asks for it: GOMAXPROCS is raised (Processors), SIGQUIT
// is answered (QuitDump), and the process is ended (Exit). Start uses up the process's membership of its launcher's
// job. In any case a rank has OS threads of its own, which its settings may bind to cores, and it reports to standard
// error: a worker that is stuck, a job that is aborted, a launcher that is lost.
package rank
