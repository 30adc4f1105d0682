//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/golci/golci/mpi"
)

func init() {
	cause := func(cause, effect func(c *mpi.Comm, code int)) func(c *mpi.Comm) error {
		return func(c *mpi.Comm) error {
			err := c.Barrier()
			if c.Rank() == 1 {
				cause(c, 3)
			}
			for err == nil {
				err = c.Barrier()
			}
			effect(c, 58)
			return err
		}
	}
	exit := func(_ *mpi.Comm, code int) { os.Exit(code) }
	abort := func(c *mpi.Comm, code int) { _ = c.Proc().Abort(code, nil) }
	mpiRoles["thread panics"] = func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			if _, err := c.Proc().Go(func() { panic("on purpose") }); err != nil {
				return err
			}
		}
		return c.Barrier()
	}
	mpiRoles["exit, exits"] = cause(exit, exit)
	mpiRoles["exit, aborts"] = cause(exit, abort)
	mpiRoles["abort, exits"] = cause(abort, exit)
	mpiRoles["abort, aborts"] = cause(abort, abort)
}

// TestCause: the exit code of the job is that of the rank which fails by itself, although the others notice that and
// end with a greater code.
func TestCause(t *testing.T) {
	for _, role := range []string{"exit, exits", "exit, aborts", "abort, exits", "abort, aborts"} {
		for where, args := range map[string][]string{
			"here": ranks(4, role), "hosts": onHosts("a:2,b:2", role), "udp": ranks(3, role, "-env", "GOLCI_CONDUIT=udp"),
		} {
			t.Run(role+"/"+where, func(t *testing.T) { run(t, golci(t, args...)).want(t, 3, "rank 1") })
		}
	}
}

// TestPanicOnce: the stack of a thread's panic is printed once, and the launcher names the rank and the reason.
func TestPanicOnce(t *testing.T) {
	r := run(t, golci(t, ranks(2, "thread panics")...))
	r.want(t, 2, "golci: rank 1 aborted the job with code 2: panic in a thread: on purpose\n")
	if n := strings.Count(r.err, "debug.Stack()"); n != 1 {
		t.Errorf("%d stacks:\n%s", n, r.err)
	}
}
