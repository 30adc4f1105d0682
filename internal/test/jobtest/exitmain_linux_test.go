package jobtest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/test/tuningtest"
	"github.com/golci/golci/mpi"
)

// exitWord is the first argument that makes the test binary a rank of a job that ends in the way which the others name.
const exitWord = "exit"

// exitMain is the program of such a rank. The ranks tell their processes, meet, and begin when rank 0 sees the end of
// its input.
func exitMain(args []string) {
	way, ok := ways[strings.Join(args, " ")]
	if !ok {
		fmt.Fprintln(os.Stderr, "ways to exit:", strings.Join(slices.Sorted(maps.Keys(ways)), ", "))
		os.Exit(99)
	}
	p, err := mpi.Init(mpi.WithAttach(attach), mpi.WithTuning(tuningtest.FromEnv()))
	self = p
	if err == nil {
		fmt.Printf("rank %d pid %d\nready\n", p.World().Rank(), os.Getpid())
		err = begin(p)
	}
	if err == nil {
		err = way(p)
	}
	if err != nil { // none of the ways lets a rank come here with an error: it would spoil the code
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(98)
	}
	os.Exit(0)
}

func begin(p *mpi.Proc) error {
	if p.World().Rank() == 0 {
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
	}
	return p.World().Barrier()
}

// culprit is the rank that ends the job, where it is one: the last.
func culprit(p *mpi.Proc) bool { return p.World().Rank() == p.World().Size()-1 }

var errReturned = errors.New("returned, though the job has ended")

// exit calls Exit, which does not return.
func exit(p *mpi.Proc, code int) error { return errors.Join(p.Exit(code), errReturned) }

// never receives what nobody sends.
func never(p *mpi.Proc) error {
	_, err := mpi.Recv(p.World(), make([]byte, 1), mpi.AnySource, 1)
	return errors.Join(err, errReturned)
}

// oneSided has the last rank do one thing and the others another.
func oneSided(one, others func(p *mpi.Proc) error) func(p *mpi.Proc) error {
	return func(p *mpi.Proc) error {
		if culprit(p) {
			return one(p)
		}
		return others(p)
	}
}

func with(code int) func(p *mpi.Proc) error {
	return func(p *mpi.Proc) error { return exit(p, code) }
}

// attach registers the handlers of ways that end in one.
func attach(srv *comm.Server) error {
	return errors.Join(
		srv.Endpoint().Register(handlerExit, exitSpec),
		srv.Endpoint().Register(handlerStay, staySpec),
	)
}
