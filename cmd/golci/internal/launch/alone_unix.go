//go:build unix

package launch

import (
	"fmt"
	"slices"
	"syscall"
)

// alone is the team of a job on this machine.
type alone struct{ Crew }

func (a *alone) Gather(j *Job) (Places, error) {
	s := j.spec
	a.Crew = Crew{
		Count: s.Ranks, Size: s.Ranks, Argv: s.Argv, Env: s.Env, Bind: s.Bind, JobID: j.ID(),
		Guard: s.Guard, Stdin: s.Stdin, Owner: j,
	}
	if s.Parts != "" {
		a.Env = append(slices.Clip(a.Env), PartsEnv(s.Parts))
	}
	return Places{Nodes: []int{s.Ranks}, Name: rankName}, nil
}

func rankName(rank int) string { return fmt.Sprintf("rank %d", rank) }

func (a *alone) Pause() {}

func (a *alone) End() {
	a.Kill(syscall.SIGKILL)
	a.Wait()
}
