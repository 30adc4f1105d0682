package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/cmd/golci/internal/launch/far"
	"github.com/golci/golci/internal/observe/settings"
)

type runFar struct {
	Hosts      string        `help:"Machines and their numbers of ranks, as in a:4,b:4; default: one rank a core. localhost is this machine." placeholder:"LIST"`
	Hostfile   string        `help:"File with one machine a line, as in 'a:4' or 'a slots=4'." placeholder:"FILE"`
	Allocation string        `help:"Whether machines that a scheduler has given to this job are used (auto), or not (none)." default:"auto" placeholder:"auto|none"`
	Rsh        string        `help:"Remote shell; it gets the machine, in place of {} if that is there, and a command; default: the scheduler's, or ${ssh}." placeholder:"COMMAND"`
	Connect    time.Duration `default:"1m" help:"How long the remote shell is tried again while a machine's name is not known or refuses connections." placeholder:"D"`
	Golci      string        `help:"golci on the other machines; default: a copy, unless the same file lies safely at its path here." placeholder:"PATH"`
	Preload    bool          `help:"Copy the program to the other machines; always done for a Go package, and below a directory that every user can write."`
	Listen     string        `default:":0" help:"Address at which the other machines call back." placeholder:"ADDRESS"`
	Silence    time.Duration `default:"20s" help:"A machine that is silent for this time is lost." placeholder:"D"`

	shell []string // the scheduler's remote shell; nil: ssh
	built []string // programs that have been built, as paths
}

// namedHosts reads the machines that the flags name; none means that they name none.
func (r *runFar) namedHosts() ([]far.Host, error) {
	switch {
	case r.Hosts != "" && r.Hostfile != "":
		return nil, errors.New("-hosts or -hostfile, not both")
	case r.Hosts != "":
		return far.ParseHosts(r.Hosts)
	case r.Hostfile == "":
		return nil, nil
	}
	f, err := os.Open(r.Hostfile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hosts, err := far.ReadHosts(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Hostfile, err)
	}
	return hosts, nil
}

// teamOf is the team of a job on these machines; nil stands for this machine alone.
func (r *runFar) teamOf(hosts []far.Host, set *settings.Set) (launch.Team, error) {
	shell, err := r.remoteShell()
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	self, err := ownPath()
	if err != nil {
		return nil, err
	}
	return far.New(&far.Config{
		Hosts: hosts, Shell: shell, Self: self, Helper: r.Golci, Listen: r.Listen, Preload: r.Preload, Copies: r.built,
		Silence: r.Silence, Start: settings.InitTimeout.Get(set), Connect: r.Connect,
	}), nil
}

// remoteShell is what -rsh says, or else the scheduler's, or ssh.
func (r *runFar) remoteShell() ([]string, error) {
	switch {
	case r.Rsh == "" && r.shell != nil:
		return r.shell, nil
	case r.Rsh == "":
		return far.SSH, nil
	}
	shell, err := far.Words(r.Rsh)
	if err != nil {
		return nil, fmt.Errorf("-rsh %q is no command: %w", r.Rsh, err)
	}
	if len(shell) == 0 {
		return nil, fmt.Errorf("-rsh %q is no command", r.Rsh)
	}
	return shell, nil
}

// rankCount is the number of ranks of an only program; 0 means one for each slot of the machines.
func (r *runCmd) rankCount(hosts []far.Host) int {
	switch {
	case r.Ranks != nil:
		return *r.Ranks
	case len(hosts) > 0:
		return 0
	}
	return 1
}

// isBuilt says whether a program is a Go package.
func (r *runCmd) isBuilt() bool {
	return slices.ContainsFunc(r.programParts(), (*part).isPackage)
}

// helperCmd is the side of another machine; people do not call it.
type helperCmd struct {
	Input bool   `help:"Descriptor 3 is the standard input of rank 0."`
	Dir   string `arg:"" optional:"" help:"Directory to remove at once: this program was copied there."`
}

func init() {
	commands = append(commands, &struct {
		Helper helperCmd `cmd:"" hidden:""`
	}{})
}

// Run lasts as long as the job.
func (h *helperCmd) Run() error {
	var input *os.File
	if h.Input {
		input = far.Input()
	}
	if h.Dir != "" {
		self, err := ownPath()
		if err == nil {
			err = far.OwnDir(h.Dir, self)
		}
		if err != nil {
			return err
		}
	}
	guard, err := startGuard()
	if err != nil {
		return err
	}
	defer guard.Close()
	if h.Dir != "" {
		guard.AddDir(h.Dir)
		os.RemoveAll(h.Dir)
	}
	return far.HelperMain(os.Stdin, input, guard)
}
