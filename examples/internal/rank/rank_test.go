package rank

import (
	"errors"
	"flag"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All threads exist before one runs, each with its own number and thread.
func TestThreads(t *testing.T) {
	for _, n := range []int{1, 2, 50} {
		err := mpi.Run(3, func(c *mpi.Comm) error {
			b, err := fult.NewBarrier(n)
			if err != nil {
				return err
			}
			var sum atomic.Int64
			err = Threads(c.Proc(), n, func(_ *Team, me *fult.Thread, i int) error {
				if me == nil || me != c.Proc().Threads().Current() {
					return errors.New("not the own thread")
				}
				b.Wait(me)
				sum.Add(int64(i) + 1)
				return nil
			})
			if want := int64(n) * int64(n+1) / 2; err == nil && sum.Load() != want {
				t.Errorf("%d threads: sum %d, want %d", n, sum.Load(), want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d threads: %v", n, err)
		}
	}
}

// A thread that fails or panics ends the waits of all others, on every rank.
func TestThreadFails(t *testing.T) {
	lost := errors.New("lost")
	for name, fail := range map[string]func() error{
		"error": func() error { return lost },
		"panic": func() error { panic(lost) },
	} {
		err := mpi.Run(3, func(c *mpi.Comm) error {
			return Threads(c.Proc(), 5, func(_ *Team, _ *fult.Thread, i int) error {
				if c.Rank() == 1 && i == 3 {
					return fail()
				}
				_, err := mpi.Recv(c, make([]byte, 1), mpi.AnySource, i) // never sent
				return err
			})
		})
		if !errors.Is(err, lost) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// When not all threads can be started, none runs.
func TestThreadsTooMany(t *testing.T) {
	var ran atomic.Int64
	err := mpi.Run(2, func(c *mpi.Comm) error {
		return Threads(c.Proc(), 30, func(*Team, *fult.Thread, int) error {
			ran.Add(1)
			return nil
		})
	}, mpi.WithWorkers(1), mpi.WithThreads(10))
	if !errors.Is(err, fult.ErrTooMany) || ran.Load() != 0 {
		t.Errorf("%d ran, error %v", ran.Load(), err)
	}
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"-n 3": "", "-n x": "invalid value", "-m": "not defined", "-h": "help requested",
		"a": "", "a b": `unexpected argument "b"`,
	} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		f.Int("n", 1, "a number")
		err := Parse(f, "about", strings.Fields(args), 1)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
		if errors.Is(err, flag.ErrHelp) != (args == "-h") {
			t.Errorf("%s: got %v", args, err)
		}
	}
	if AtLeast("n", 1, 1) != nil || AtLeast("n", 0, 1) == nil {
		t.Error("AtLeast is wrong")
	}
}
