package suite

import (
	"fmt"
	"strings"
)

var about = map[string]string{
	"latency":        "half the round trip of a ping-pong between two ranks",
	"bandwidth":      "bytes a second one way, many messages under way",
	"bibw":           "bytes a second both ways at once",
	"rate":           "messages a second one way, many under way",
	"threads":        "messages a second of ping-pongs between as many threads on each of two ranks",
	"barrier":        "time of a barrier of all ranks",
	"bcast":          "time of a broadcast to all ranks",
	"allreduce":      "time of a sum over all ranks",
	"reduce":         "time of a sum over all ranks that rank 0 gets",
	"reduce_scatter": "time of a sum over all ranks of which each gets a part",
	"allgather":      "time in which each rank gets a part of each",
	"alltoall":       "time in which each rank sends a part to each",
	"alltoallv":      "the same with counts",
	"ibcast":         "how much of a broadcast is hidden behind computing",
	"iallreduce":     "how much of a sum over all ranks is hidden behind computing",
	"iallgather":     "the same for allgather",
	"ialltoall":      "the same for alltoall",
	"vector":         "half the round trip of a column of a matrix",
	"packed":         "the same, packed and unpacked by the program",
	"winput":         "time of a put into a window and its flush",
	"winget":         "time of a get from a window and its flush",
	"accumulate":     "time of a sum into a window and its flush",
	"fetch_and_op":   "time of a fetch and add in a window and its flush",
	"am":             "round trip of an active message and its reply",
	"flow":           "messages a second one way by active messages, within credits",
	"put":            "time and rate of writes to another rank's memory",
	"get":            "time and rate of reads of another rank's memory",
	"notify":         "time until a write and its notice have reached another rank",
	"firstcall":      "time of a probe after 2 ms of computing, and of a system call in its place",
	"tail":           "how the times of single round trips are spread",
	"asserts":        "half the round trip with receives posted first, for promises of a communicator",
	"million":        "half a million threads on each of two ranks",
	"taskbench":      "time of the smallest tasks of a graph that keep the processor busy",
	"realm":          "events, tasks, locks, barriers, reductions and copies of package realm",
	"scale":          "messages, bytes and state of jobs of up to 100,000 ranks, in virtual time",
	"reliable":       "the protocol of datagrams over a simulated network, or a real one",
	"credits":        "the credit scheme: among real ranks, its cost over datagrams, or simulated for many ranks",
}

// Describe lists the benchmarks with what they measure, for people.
func Describe() string {
	var b strings.Builder
	b.WriteString("Benchmarks:\n\n")
	for _, s := range specs {
		mark := ""
		if s.asked {
			mark = " (not one of all)"
		}
		fmt.Fprintf(&b, "  %-14s %s%s\n", s.name, about[s.name], mark)
	}
	return b.String()
}
