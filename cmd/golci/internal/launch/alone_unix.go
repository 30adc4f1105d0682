//go:build unix

package launch

import (
	"fmt"
	"syscall"
)

type alone struct {
	job  *Job
	crew Crew
}

func (a *alone) Gather(j *Job) (Places, error) {
	a.job = j
	return Places{Nodes: []int{j.spec.Ranks}, Name: rankName}, nil
}

func rankName(rank int) string { return fmt.Sprintf("rank %d", rank) }

func (a *alone) Start() error {
	s := a.job.spec
	a.crew = Crew{
		Count: s.Ranks, Size: s.Ranks, Argv: s.Argv, Env: s.Env, Bind: s.Bind, JobID: a.job.ID(),
		Guard: s.Guard, Stdin: s.Stdin, Owner: a.job,
	}
	return a.crew.Start()
}

func (a *alone) Kill(sig syscall.Signal) { a.crew.Kill(sig) }

func (a *alone) Pause() {}

func (a *alone) End() {
	a.Kill(syscall.SIGKILL)
	a.crew.Wait()
}
