//go:build unix

package launch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
)

// foreign are the prefixes of variables by which another launcher, perhaps of this process, talks to its ranks.
var foreign = []string{"PMI_", "PMIX_", "OMPI_", "HYDI_", "HYDRA_", "MPI_LOCAL", "PRTE_"}

func cleanEnv(base []string) []string {
	return slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		return settings.IsPlace(kv) || slices.ContainsFunc(foreign, func(f string) bool { return strings.HasPrefix(kv, f) })
	})
}

func hasVariable(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { v, ok := strings.CutPrefix(kv, name+"="); return ok && v != "" })
}

// rankSlot is the place of one rank: in the job, and among those of its machine.
type rankSlot struct{ rank, size, local, locals int }

// rankEnv is the environment of one rank. base is clean; pmiFD is the descriptor's number in the rank.
func rankEnv(base []string, jobID string, s rankSlot, pmiFD int) []string {
	n := strconv.Itoa
	return append(base[:len(base):len(base)],
		"PMI_FD="+n(pmiFD), "PMI_RANK="+n(s.rank), "PMI_SIZE="+n(s.size), "PMI_SPAWNED=0",
		"MPI_LOCALRANKID="+n(s.local), "MPI_LOCALNRANKS="+n(s.locals), boot.EnvLauncher+"="+jobID)
}

// processorsFor is GOMAXPROCS for a rank. Its polling workers never leave their processors, and one more lets the
// collector and ordinary goroutines run.
func processorsFor(workers int) int { return max(2, workers+1) }
