//go:build unix

package launch

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/golci/golci/internal/job/boot"
)

// localTeam is the team of a job on this machine.
type localTeam struct {
	LocalRanks
	later []*LocalRanks // those of worlds that ranks have spawned
}

func (a *localTeam) Gather(j *Job) (Places, error) {
	s := j.spec
	ranks := s.Ranks()
	a.LocalRanks = LocalRanks{
		Size: ranks, Commands: s.Commands, Env: s.Env, Bind: s.Bind, JobID: j.ID(), Guard: s.Guard, Stdin: s.Stdin,
		Owner: j,
	}
	if s.Parts != "" {
		a.Env = append(slices.Clip(a.Env), PartsEnv(s.Parts, a.Env))
	}
	return Places{Nodes: []int{ranks}, Name: rankName}, nil
}

func rankName(rank int) string { return fmt.Sprintf("rank %d", rank) }

func (a *localTeam) Pause() {}

func (a *localTeam) Kill(sig syscall.Signal) {
	a.LocalRanks.Kill(sig)
	for _, c := range a.later {
		c.Kill(sig)
	}
}

func (a *localTeam) End() {
	a.Kill(syscall.SIGKILL)
	a.Wait()
	for _, c := range a.later {
		c.Wait()
	}
}

// StartMore implements starter.
func (a *localTeam) StartMore(first int, cmds []boot.Command) (crews []*LocalRanks, err error) {
	size := 0
	for _, cmd := range cmds {
		size += cmd.N
	}
	at := first
	for _, cmd := range cmds {
		c := &LocalRanks{
			First: at, Size: size, Base: first, Commands: []boot.Command{cmd}, Env: a.Env, Bind: "none", JobID: a.JobID,
			Guard: a.Guard, Owner: a.Owner,
		}
		at += cmd.N
		a.later, crews = append(a.later, c), append(crews, c)
		if err := c.Start(); err != nil {
			return crews, err
		}
	}
	return crews, nil
}
