package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/golci/golci/bench/suite"
)

func init() {
	commands = append(commands, &struct {
		Bench benchCmd `cmd:"" help:"Measure the machine, golci, and the MPI implementations installed."`
	}{})
}

type benchCmd struct {
	Ranks    *int          `short:"n" placeholder:"N" help:"Ranks; default: 2; credits 8, simulated 64; taskbench 1."`
	Sizes    string        `help:"Message sizes in bytes; k and m are 1024 and its square." placeholder:"LIST"`
	Threads  string        `help:"Numbers of threads in each process." placeholder:"LIST"`
	Duration time.Duration `help:"Least length of one measurement." placeholder:"D"`
	JSON     bool          `name:"json" help:"Print one JSON object per line."`
	Plot     string        `help:"Draw the curves into this file: .svg, .png or .pdf." placeholder:"FILE"`
	Peers    bool          `help:"Also run the MPI implementations that are installed, and compare."`
	Reps     int           `help:"Runs that a row is the median of; default: 5 with -peers, else 1." placeholder:"N"`
	Conduit  string        `help:"Conduit between the ranks: shm, udp or ofi; default: their own choice. With udp the MPI implementations use TCP, and the system's own limit is measured." placeholder:"NAME"`
	Security []string      `help:"Security modes of the UDP conduit, each in turn: encrypt, authenticate, trust; default: encrypt." placeholder:"LIST"`
	Only     []string      `group:"realm" help:"Measures, or groups such as events and tasks; default: all. Of scale: its measures." placeholder:"LIST"`
	Seed     uint64        `default:"1" help:"Seed of everything random in credits and reliable."`
	Credits  creditFlags   `embed:"" group:"credits"`
	Link     linkFlags     `embed:"" group:"reliable"`
	Scale    scaleFlags    `embed:"" prefix:"scale-" group:"scale"`
	Tasks    taskFlags     `embed:"" group:"taskbench"`
	Names    []string      `arg:"" name:"name" help:"Benchmarks, listed above, or all."`
}

// Help says what each benchmark measures.
func (benchCmd) Help() string { return suite.Describe() }

// Run measures; it ends early, and with it every job it started, on an interrupt.
func (b *benchCmd) Run() error {
	ranks, creditRanks := 2, 0
	if b.Ranks != nil {
		ranks, creditRanks = *b.Ranks, *b.Ranks
	}
	sizes, err := suite.ParseList(b.Sizes)
	if err != nil {
		return err
	}
	threads, err := suite.ParseList(b.Threads)
	if err != nil {
		return err
	}
	self, err := ownPath()
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	losses, link, err := b.Link.parseLink(b.Seed)
	if err != nil {
		return err
	}
	tasks, err := b.Tasks.parse(b.Ranks)
	if err != nil {
		return err
	}
	large, err := b.Scale.parseScale(b.Seed)
	if err != nil {
		return err
	}
	return suite.Run(ctx, suite.Config{
		Names: b.Names, N: ranks, Sizes: sizes, Threads: threads, Duration: b.Duration, JSON: b.JSON, Plot: b.Plot,
		Peers: b.Peers, Reps: b.Reps, Out: os.Stdout, Err: os.Stderr, Self: self, Env: os.LookupEnv,
		Conduit: b.Conduit, Security: b.Security,
		Only: b.Only, Link: link, Losses: losses, Real: b.Link.Real, Tasks: tasks, Scale: large,
		Credit: b.Credits.config(creditRanks, b.Seed),
	})
}
