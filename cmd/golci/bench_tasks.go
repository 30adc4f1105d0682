package main

import (
	"fmt"

	"github.com/golci/golci/bench/suite"
	"github.com/golci/golci/bench/taskbench"
)

// taskFlags are those of golci bench taskbench. Names are those of Task Bench's programs where they have one.
type taskFlags struct {
	Type      []string `help:"Types of graphs, each in turn; default: stencil_1d." placeholder:"LIST"`
	Runner    []string `help:"Runners: raw, serial, goroutines, threads, mpi, realm; default: all." placeholder:"LIST"`
	Width     int      `default:"4" help:"Tasks of a step."`
	Steps     int      `default:"1000" help:"Steps of the graph."`
	Radix     int      `default:"3" help:"Dependencies of a task, for nearest, spread and random_nearest."`
	Period    int      `help:"Dependence sets, for spread and random_nearest; default: 3." placeholder:"N"`
	Fraction  float64  `default:"0.25" help:"Dependencies that exist, as part of all, for random_nearest."`
	Payload   int      `default:"16" help:"Bytes that a task hands to each task that depends on it."`
	Kernel    string   `default:"compute_bound" help:"Work: empty, compute_bound, memory_bound or load_imbalance."`
	Iter      string   `help:"Iterations of the kernel; default: 256; with -metg 16384 to 1." placeholder:"LIST"`
	Imbalance float64  `help:"Greatest difference of iterations as part of them, 0 to 2, for load_imbalance."`
	Scratch   int      `help:"Bytes of a point for memory_bound; default: 65536." placeholder:"N"`
	Sample    int      `help:"Parts of these, one of which an iteration copies; default: 16." placeholder:"N"`
	METG      bool     `name:"metg" help:"Also tell the smallest time of a task with half of the highest rate."`
	Workers   int      `default:"1" help:"Workers of each rank, with a core each."`
	InProcess bool     `name:"inprocess" help:"The ranks are in this process."`
	TaskBench string   `name:"taskbench" help:"Checkout of Task Bench; its MPI program runs, too." placeholder:"DIR"`
}

func (f *taskFlags) parse(ranks *int) (c suite.TaskConfig, err error) {
	c = suite.TaskConfig{
		Graph: taskbench.Graph{
			Width: f.Width, Steps: f.Steps, Radix: f.Radix, Period: f.Period, Fraction: f.Fraction, Payload: f.Payload,
			Kernel: taskbench.Kernel{Imbalance: f.Imbalance, Scratch: f.Scratch, Samples: f.Sample},
		},
		Runners: f.Runner, METG: f.METG, Workers: f.Workers, InProcess: f.InProcess, Checkout: f.TaskBench,
	}
	if ranks != nil {
		c.Ranks = *ranks
	}
	for _, name := range f.Type {
		t, err := taskbench.ParseType(name)
		if err != nil {
			return c, fmt.Errorf("%w: %w", suite.ErrUsage, err)
		}
		c.Types = append(c.Types, t)
	}
	if c.Graph.Kernel.Kind, err = taskbench.ParseKind(f.Kernel); err != nil {
		return c, fmt.Errorf("%w: %w", suite.ErrUsage, err)
	}
	c.Iterations, err = suite.ParseList(f.Iter)
	return c, err
}
