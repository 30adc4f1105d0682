// Package rank is what the example programs share: the frame of a rank's main function, and threads that end together.
package rank

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/realm"
)

// Main reads the arguments with parse and runs body as one rank of its job. It does not return: the exit code is 0, or
// 2 for arguments that parse refuses, or 1. An error of body ends the whole job.
func Main[A any](parse func(args []string) (A, error), body func(c *mpi.Comm, a A) error) {
	os.Exit(run(os.Args[1:], parse, func(a A) (member, error) {
		p, err := mpi.Init()
		if err != nil {
			return nil, err
		}
		return p, body(p.World(), a)
	}))
}

// MainRealm is Main for a program of package realm.
func MainRealm[A any](parse func(args []string) (A, error), body func(ctx context.Context, rt *realm.Runtime,
	a A) error,
) {
	os.Exit(run(os.Args[1:], parse, func(a A) (member, error) {
		rt, err := realm.Init()
		if err != nil {
			return nil, err
		}
		return runtime{rt}, body(context.Background(), rt, a)
	}))
}

// member is a rank that has started.
type member interface {
	Abort(code int, err error) error
	Finalize() error
}

// runtime is a member.
type runtime struct{ *realm.Runtime }

// Finalize implements member.
func (r runtime) Finalize() error { return r.Runtime.Finalize(context.Background()) }

// run runs a program. start returns the rank, or nil if it has not started.
func run[A any](args []string, parse func([]string) (A, error), start func(a A) (member, error)) int {
	a, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return complain(err, 2)
	}
	m, err := start(a)
	switch {
	case m == nil:
		return complain(err, 1)
	case err != nil:
		return complain(m.Abort(1, err), 1)
	}
	if err := m.Finalize(); err != nil {
		return complain(err, 1)
	}
	return 0
}

func complain(err error, code int) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
	return code
}

// Parse reads args with f, and at most so many more words. Where they ask for help it prints the usage, below about,
// and returns flag.ErrHelp, with which Main ends well. Any other error is left to the caller to print.
func Parse(f *flag.FlagSet, about string, args []string, words int) error {
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Println(about)
		f.SetOutput(os.Stdout)
		f.PrintDefaults()
	}
	if err == nil && f.NArg() > words {
		return fmt.Errorf("unexpected argument %q", f.Arg(words))
	}
	return err
}

// AtLeast is an error if the value of the flag called name is less than low.
func AtLeast(name string, value, low int) error {
	if value < low {
		return fmt.Errorf("-%s %d: want at least %d", name, value, low)
	}
	return nil
}
