package main

import (
	"encoding/json"
	"io"
	"os"
	"runtime"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/topology"
	"github.com/golci/golci/mpi"
)

// machineReport is the output of golci info -json. Names of fields stay as they are; others may be added.
type machineReport struct {
	Version   string          `json:"version"`
	System    string          `json:"system"`
	Processor string          `json:"processor"`
	CPUs      []int           `json:"cpus_usable"`
	Cores     int             `json:"cores"`
	Kernel    map[string]bool `json:"kernel"`
	Conduits  []carrier       `json:"conduits"`
	Threads   threadsReport   `json:"threads"`
	Launcher  string          `json:"launcher"`
	Rank      int             `json:"rank"`
	Size      int             `json:"size"`
	Given     *givenReport    `json:"allocation,omitempty"`
	Eager     eagerReport     `json:"eager_limit"`
	Settings  []settings.Info `json:"settings"`
	Unknown   []string        `json:"unknown_settings"`
	Counters  []counterReport `json:"counters"`
}

// counterReport describes a counter of a rank, a performance variable.
type counterReport struct {
	Name     string `json:"name"`
	Class    string `json:"class"`
	Category string `json:"category"`
	Doc      string `json:"meaning"`
}

func counterReports() (out []counterReport) {
	for _, c := range tool.Counters() {
		out = append(out, counterReport{c.Name, c.Class.String(), tool.Categories()[c.Category].Name, c.Doc})
	}
	return out
}

// threadsReport has the kind of a rank's threads, and why they are no coroutines (fult) if they should be.
type threadsReport struct {
	Kind string `json:"kind"`
	Why  string `json:"why,omitempty"`
}

// eagerReport is the largest message sent without asking first, in a job of the launcher's size or else of two ranks.
type eagerReport struct {
	Bytes int    `json:"bytes"`
	Ranks int    `json:"ranks"`
	From  string `json:"from"`
}

// givenReport is what a scheduler has given to this process's job.
type givenReport struct {
	Scheduler string        `json:"scheduler"`
	From      string        `json:"from"`
	Machines  []machineSeat `json:"machines"`
	Shell     []string      `json:"remote_shell"`
}

// machineSeat is a machine of an allocation. 0 slots are as many as it has cores.
type machineSeat struct {
	Name  string `json:"name"`
	Slots int    `json:"slots"`
	Here  bool   `json:"here"`
}

func reportGiven() (*givenReport, error) {
	a, err := allocation()
	if a == nil {
		return nil, err
	}
	r := &givenReport{Scheduler: a.Scheduler, From: a.From, Shell: a.Shell}
	for _, h := range a.Hosts {
		r.Machines = append(r.Machines, machineSeat(h))
	}
	return r, nil
}

// infoJSON prints all facts that need no measurement. Errors: those of settings, and of the
// variables of launchers and schedulers.
func infoJSON(out io.Writer) error {
	set, err := settings.Parse(os.LookupEnv)
	if err != nil {
		return err
	}
	r := machineReport{
		Version: version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processor: topology.ReadProcessor().Name,
		CPUs: affinity.Get(), Cores: len(topology.Read().Cores()), Kernel: map[string]bool{},
		Unknown: settings.Unknown(os.Environ()),
	}
	for _, f := range kernelFeatures() {
		r.Kernel[f.name] = f.err == nil
	}
	r.Conduits = conduits()
	if r.Launcher, r.Rank, r.Size, err = boot.Detect(os.LookupEnv); err != nil {
		return err
	}
	if r.Given, err = reportGiven(); err != nil {
		return err
	}
	if r.Threads, err = threads(); err != nil {
		return err
	}
	r.Eager = eagerReport{Ranks: max(r.Size, 2), From: eagerFrom(set)}
	if r.Eager.Bytes, err = mpi.EagerLimit(r.Eager.Ranks); err != nil {
		return err
	}
	r.Settings, r.Counters = set.List(), counterReports()
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
