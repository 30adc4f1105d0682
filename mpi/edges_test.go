package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
)

// TestRunFailsWhole: a Run that fails before its ranks start says why. It keeps nothing: TestMain looks for goroutines
// of conduits.
func TestRunFailsWhole(t *testing.T) {
	for _, carrier := range []string{"local", "udp"} {
		var calls atomic.Int64
		second := func(*comm.Server) error {
			if calls.Add(1) == 2 {
				return errBoom
			}
			return nil
		}
		ran := func(*Comm) error { t.Error("a rank has started"); return nil }
		if err := Run(4, ran, With("GOLCI_CONDUIT", carrier), WithAttach(second)); !errors.Is(err, errBoom) {
			t.Errorf("%s: got %v", carrier, err)
		}
	}
}

// TestRunTooManyRanks: a number of ranks that no job can have is an error before anything is allocated for it.
func TestRunTooManyRanks(t *testing.T) {
	for _, n := range []int{-1, 0, comm.MaxRanks + 1, math.MaxInt} {
		if err := Run(n, func(*Comm) error { return nil }); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), fmt.Sprint(n)) {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// TestParallelWithoutBound: a number of threads beyond all memory ends with ErrTooMany, like one beyond the limit.
func TestParallelWithoutBound(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		for _, n := range []int{1000, math.MaxInt} {
			err := c.Proc().ParallelContext(context.Background(), n, func(ctx context.Context, _ int) error {
				return second(RecvContext(ctx, c, one(), 0, 0)) // until there are too many
			})
			if err := wants(fult.ErrTooMany, err); err != nil {
				return err
			}
		}
		return nil
	}, WithWorkers(1), WithThreads(8))
}

// TestIprobeOnEndedView: a loop of Iprobe on a view ends with its context.
func TestIprobeOnEndedView(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		v := c.WithContext(ctx)
		if _, ok, err := v.Iprobe(AnySource, 0); ok || err != nil {
			return fmt.Errorf("before the end: %v, %w", ok, err)
		}
		cancel(errBoom)
		var none context.Context // no context at all, which a caller may pass by mistake
		for _, x := range []struct {
			c    *Comm
			want error
		}{{v, errBoom}, {c.WithContext(none), ErrArgument}} {
			_, _, probe := x.c.Iprobe(0, 0)
			_, improbe := x.c.Improbe(AnySource, AnyTag)
			_, _, _, value := IprobeValue[int](x.c, 0, 0)
			for _, err := range []error{probe, improbe, value} {
				if err := errors.Join(wants(ErrCancelled, err), wants(x.want, err)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestValueErrorsNameTheCall: errors of calls that are made of others name the one that the program has called.
func TestValueErrorsNameTheCall(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		_, _, badSource := RecvValue[int](c, 9, 0)
		_, _, _, badProbe := IprobeValue[int](c, 9, 0)
		badSend := second(Sendrecv(c, one(), 0, TagUB+1, one(), 0, 0))
		if err := Send(c, []byte("no value"), 0, 1); err != nil {
			return err
		}
		_, _, badValue := RecvValue[int](c, 0, 1)
		_, badThread := c.Proc().Go(nil)
		for text, err := range map[string]error{
			"mpi: RecvValue: rank 0 of 1, tag 0: invalid rank: source 9":   badSource,
			"mpi: IprobeValue: rank 0 of 1, tag 0: invalid rank: source 9": badProbe,
			"mpi: Sendrecv: rank 0 of 1":                                   badSend,
			"mpi: RecvValue: rank 0 of 1, 8 bytes from rank 0, tag 1":      badValue,
			"mpi: Go: rank 0": badThread,
		} {
			if err == nil || !strings.HasPrefix(err.Error(), text) {
				return fmt.Errorf("want %q, got %q", text, fmt.Sprint(err))
			}
		}
		return nil
	})
}

// TestRanksInErrorsOfSplit: an error of a communicator has that one's ranks only, or says which are the world's.
func TestRanksInErrorsOfSplit(t *testing.T) {
	must(t, 4, func(c *Comm) error {
		s, err := c.Split(c.Rank()/2, -c.Rank())
		if err != nil || c.Rank() != 3 {
			return err
		}
		r, err := Irecv(s, one(), 0, 5)
		if err != nil {
			return err
		}
		copied := r
		if err := Send(s, []int{1, 2}, 0, 5); err != nil {
			return err
		}
		for text, err := range map[string]error{
			"rank 0 of 2, buffer of 8 bytes, from rank 0 (3 in world), tag 5": second(r.Wait()),
			"rank 0 of 2: invalid request: the request has been waited for":   second(copied.Wait()),
		} {
			if err == nil || !strings.Contains(err.Error(), text) {
				return fmt.Errorf("want %q, got %q", text, fmt.Sprint(err))
			}
		}
		return nil
	})
}

// TestNilMessage: Improbe gives a nil message where there is none, and asking that for its status does no harm.
func TestNilMessage(t *testing.T) {
	var m *Message
	if st := m.Status(); st != empty {
		t.Errorf("got %+v", st)
	}
}
