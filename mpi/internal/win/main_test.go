package win

import (
	"fmt"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ranks runs f as each of n ranks in this process. pairs are names and values of settings.
func ranks(t *testing.T, n int, f func(c *core.Comm) error, pairs ...string) {
	t.Helper()
	procs := make([]*core.Proc, n)
	cfg := rank.Config{Caller: "win", Settings: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		cfg.Settings[pairs[i]] = pairs[i+1]
	}
	cfg.Attach = func(r *rank.Rank) (err error) {
		procs[r.Rank()], err = core.NewProc(r, true)
		return err
	}
	team, err := rank.Local(n, cfg)
	if err == nil {
		err = team.Run(func(r *rank.Rank) error { return f(procs[r.Rank()].World()) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// each runs f with 1 to 8 ranks.
func each(t *testing.T, f func(c *core.Comm) error) {
	for _, n := range []int{1, 2, 3, 5, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { ranks(t, n, f) })
	}
}

var long = dtype.Named(dtype.Int64)

// longs is a buffer of whole numbers.
func longs(s []int64) Buf {
	return Buf{Mem: unsafe.Pointer(unsafe.SliceData(s)), N: int64(len(s)), T: long}
}

// at is n whole numbers from place disp on, at a rank.
func at(rank int, disp int64, n int) Place {
	return Place{Rank: rank, Disp: disp, N: int64(n), T: long}
}

// own makes a window of n whole numbers of this rank.
func own(c *core.Comm, n int) (*Window, []int64, error) {
	mem := make([]int64, n)
	w, err := Create(c, unsafe.Pointer(unsafe.SliceData(mem)), int64(8*n), 8)
	return w, mem, err
}

// first gives the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func expect(what string, got, want int64) error {
	if got != want {
		return fmt.Errorf("%s is %d, want %d", what, got, want)
	}
	return nil
}
