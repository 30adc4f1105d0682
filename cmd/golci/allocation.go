package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/golci/golci/cmd/golci/internal/alloc"
	"github.com/golci/golci/cmd/golci/internal/launch/far"
	"github.com/golci/golci/internal/job/boot"
)

// namedMachines are those that the flags name, or else those of this job's allocation. None means this machine, without
// a remote shell.
func (r *runCmd) namedMachines() ([]far.Host, error) {
	hosts, err := r.namedHosts()
	if err != nil || len(hosts) > 0 || r.Allocation == "none" {
		return hosts, err
	}
	if err := onlyOne(os.LookupEnv); err != nil {
		return nil, err
	}
	a, err := allocation()
	if err != nil {
		return nil, fmt.Errorf("%w; -hosts names machines, and -allocation none uses this one", err)
	}
	if a == nil {
		return nil, nil
	}
	return r.adoptAllocation(a)
}

// onlyOne refuses to start a job in each of several processes that another launcher has started. The error of all
// but rank 0 has no text.
func onlyOne(env func(string) (string, bool)) error {
	launcher, rank, size, err := boot.Detect(env)
	const remedy = "start golci run once, or the program itself in place of it; " +
		"with -allocation none each golci run starts a job of its own on its machine"
	known := err == nil || errors.Is(err, boot.ErrApart) // the place of this process, as far as its launcher tells it
	switch {
	case known && rank > 0:
		return exitCode(2) // rank 0 says why
	case known && size > 1:
		return fmt.Errorf("this golci run is rank %d of %d that %s has started, and each would start a job: %s", rank, size,
			launcherNames[launcher], remedy)
	case err != nil:
		return fmt.Errorf("several jobs might start: %w. Else %s", err, remedy)
	}
	return nil
}

// launcherNames are those that people know.
var launcherNames = map[string]string{
	boot.LauncherGolci: "golci run", boot.LauncherHydra: "mpiexec", boot.LauncherSlurm: "srun",
	boot.LauncherPMI: "a launcher with PMI-1", boot.LauncherOpenMPI: "mpirun",
	boot.LauncherEnv: "whoever has set GOLCI_SIZE",
}

// allocation is what a scheduler has given to this process's job; nil where none has.
func allocation() (*alloc.Allocation, error) {
	host, _ := os.Hostname() // without a name no machine counts as this one
	return alloc.Find(alloc.View{Env: os.LookupEnv, Read: os.ReadFile, Host: host})
}

// adoptAllocation gives the allocation to the job. A job on this machine alone is one without machines.
func (r *runCmd) adoptAllocation(a *alloc.Allocation) ([]far.Host, error) {
	r.sayDetail("allocation: " + describeAllocation(a))
	slots, asked := a.Slots(), r.askedRanks()
	if a.Alone() && (slots > 0 || asked != nil) {
		if asked == nil {
			r.Ranks = &slots
		}
		return nil, nil
	}
	if asked != nil && slots > 0 && *asked > slots {
		sayLine(fmt.Sprintf("-n %d: %s has given %d slot(s) on %d machine(s) (%s); ask it for more, "+
			"or name machines and slots with -hosts",
			*asked, a.Scheduler, slots, len(a.Hosts), a.From))
		return nil, exitCode(2)
	}
	r.shell = a.Shell
	return a.Hosts, nil
}
