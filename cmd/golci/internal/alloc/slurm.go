package alloc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/golci/golci/cmd/golci/internal/launch/far"
	"github.com/golci/golci/internal/job/nodelist"
)

// srun as a remote shell. The helper shares all resources of the job on its node (--overlap), also with other steps,
// and is bound to no processor: it binds the ranks itself. It needs Slurm 20.11.
var srun = []string{
	"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" + Place, "--mpi=none", "--cpu-bind=none", "--input=0",
	"--quiet",
}

// firstOwnStep is the lowest of the numbers that Slurm keeps for steps of its own: those of batch scripts and of
// interactive shells, which stand for the whole job.
const firstOwnStep = 0xfffffff0

// slurm reads the variables of salloc and sbatch. A process in a step that srun has started sees only that step: its
// user has asked for those nodes and tasks.
func slurm(v *view) (*Allocation, error) {
	from, list := v.firstSet("SLURM_JOB_NODELIST", "SLURM_NODELIST")
	tasks, cpus, why := "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE", ""
	if list == "" {
		return nil, nil
	}
	if step := v.str("SLURM_STEP_NODELIST"); step != "" && v.inStep() {
		from, list = "SLURM_STEP_NODELIST", step
		why = "srun has started this process as step " + v.str("SLURM_STEP_ID") + ", which has these"
		tasks, cpus = "SLURM_STEP_TASKS_PER_NODE", ""
	}
	names, err := nodelist.Names(list, far.MaxHosts)
	if err != nil {
		return nil, fmt.Errorf("%s=%q: %w", from, list, err)
	}
	slots, err := v.readSlots(len(names), tasks, cpus)
	if err != nil {
		return nil, err
	}
	a := &Allocation{Scheduler: "Slurm", From: from, Shell: srun, Why: why}
	for i, name := range names {
		h := far.Host{Name: name, Slots: slots[i]}
		// Slurm says which node this is, where it has started the process. The node's name may not be the host's.
		if node := v.str("SLURMD_NODENAME"); node != "" {
			h.Here = node == name
		} else {
			h.Here = isHere(name, v.Host)
		}
		a.Hosts = append(a.Hosts, h)
	}
	return a, nil
}

// inStep says that srun has started this process in a step of its own.
func (v *view) inStep() bool {
	step, err := strconv.ParseUint(v.str("SLURM_STEP_ID"), 10, 32)
	return err == nil && step < firstOwnStep
}

// readSlots reads the first of the variables that is set; if none is, each node has as many slots as it has cores.
func (v *view) readSlots(nodes int, names ...string) ([]int, error) {
	name, text := v.firstSet(names...)
	if text == "" {
		return make([]int, nodes), nil
	}
	slots, err := nodelist.Counts(text, nodes)
	if err != nil {
		return nil, wrongValue(name, text, fmt.Sprintf(`numbers such as "3,1" or "2(x3)" for %d nodes`, nodes))
	}
	return slots, nil
}

// isHere says that name, of an allocation, is this machine, which calls itself host. One of the two may lack the
// domain.
func isHere(name, host string) bool {
	short, _, long := strings.Cut(name, ".")
	hostShort, _, hostLong := strings.Cut(host, ".")
	if long && hostLong {
		return strings.EqualFold(name, host)
	}
	return short != "" && strings.EqualFold(short, hostShort)
}
