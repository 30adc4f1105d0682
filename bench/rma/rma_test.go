package rma

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

func measured(t *testing.T, c Config) (rows []bench.Row) {
	t.Helper()
	for i, err := range twin.Local("local", func(on *rank.Rank) error {
		return Run(t.Context(), on, c, func(r bench.Row) { rows = append(rows, r) })
	}) {
		if err != nil {
			t.Errorf("%s, rank %d: %v", c.Bench, i, err)
		}
	}
	return rows
}

func TestRowsOfEveryBenchmark(t *testing.T) {
	for name, want := range map[string][]string{
		Put:    {"golci 8 ns", "golci-value 8 ns", "store 8 ns", "golci 4096 ns", "memcpy 4096 ns"},
		Get:    {"golci 8 ns", "golci-value 8 ns", "load 8 ns", "golci 4096 ns", "memcpy 4096 ns"},
		Notify: {"golci 8 us", "golci 4096 us"},
	} {
		var got []string
		for _, r := range measured(t, Config{Bench: name, Sizes: []int{8, 4096}, Window: time.Millisecond}) {
			got = append(got, fmt.Sprint(r.Impl, " ", r.Size, " ", r.Unit))
			if r.Bench != name || r.Value <= 0 || r.Crossing <= 0 || r.Threads != 1 {
				t.Errorf("row %+v", r)
			}
			if compared := strings.HasPrefix(r.Impl, bench.Golci) && name != Notify; compared != (r.Note != "") {
				t.Errorf("note in %+v", r)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows %q, want %q", name, got, want)
		}
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want error
	}{
		{Config{Bench: "swap", Sizes: []int{8}}, ErrName},
		{Config{Bench: Put}, ErrSize},
		{Config{Bench: Notify, Sizes: []int{64, 7}}, ErrSize},
	} {
		if err := Run(t.Context(), nil, c.cfg, nil); !errors.Is(err, c.want) {
			t.Errorf("%+v: error %v, want %v", c.cfg, err, c.want)
		}
	}
}

// TestNeedsSharedMemory: else there is nothing to compare with.
func TestNeedsSharedMemory(t *testing.T) {
	for i, err := range twin.Local("udp", func(on *rank.Rank) error {
		return Run(t.Context(), on, Config{Bench: Put, Sizes: []int{8}}, nil)
	}) {
		if !errors.Is(err, twin.ErrShare) {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// TestPutsOutOfTurnAreFound: rank 1 is put a number that is not due, rank 0 is answered with another than it has put.
func TestPutsOutOfTurnAreFound(t *testing.T) {
	for _, late := range []bool{false, true} {
		errs := twin.Local("local", func(on *rank.Rank) error {
			job := on.Job()
			r, err := open(t.Context(), on, 8)
			if err != nil {
				return err
			}
			defer r.mem.Close()
			switch {
			case job.Rank == 1 && !late:
				err = r.echo(8)
			case job.Rank == 1:
				err = r.put(0, 8, 7)
			case late:
				_, err = r.pingPong(8, 1)
			default:
				err = r.put(1, 8, 7)
			}
			return errors.Join(err, job.Barrier(t.Context()))
		})
		finder := 1
		if late {
			finder = 0
		}
		if errs[1-finder] != nil || !errors.Is(errs[finder], ErrData) {
			t.Errorf("rank %d should find it: %v", finder, errs)
		}
	}
}

// TestBytesToMoveAreNotThereYet: otherwise an access that does nothing would pass.
func TestBytesToMoveAreNotThereYet(t *testing.T) {
	r := &end{peer: make([]byte, 64), src: make([]byte, 64), dst: make([]byte, 64)}
	from, to := r.fill(Put, 64)
	if slices.Equal(from, to) || &from[0] != &r.src[0] || &to[0] != &r.peer[0] {
		t.Error("a put begins with the bytes in place, or somewhere else")
	}
	from, to = r.fill(Get, 64)
	if slices.Equal(from, to) || &from[0] != &r.peer[0] || &to[0] != &r.dst[0] {
		t.Error("a get begins with the bytes in place, or somewhere else")
	}
}

func TestRowsCompareWithThePlainSide(t *testing.T) {
	rows := rowsOf(Put, []side{{impl: bench.Golci, ns: []float64{9, 6, 5}}, {impl: "store", ns: []float64{4, 2, 90}}})
	if len(rows) != 2 || rows[0].Value != 6 || rows[1].Value != 4 || rows[0].Note != "+2.0 ns, 1.50 times store" || rows[1].Note != "" {
		t.Errorf("rows %+v", rows)
	}
}
