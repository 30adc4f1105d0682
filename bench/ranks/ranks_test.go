package ranks

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/mpi"
)

func collect(t *testing.T, n int, c Config) ([]bench.Row, error) {
	t.Helper()
	c.quick = true
	var rows []bench.Row // written by rank 0 only, read after Run
	err := mpi.Run(n, func(comm *mpi.Comm) (err error) {
		c := c
		if c.Ends, err = crossing.Share(t.Context(), comm.Proc().Job()); err != nil {
			return err
		}
		return Run(comm.Proc(), c, func(r bench.Row) { rows = append(rows, r) })
	})
	return rows, err
}

func TestEveryBenchmark(t *testing.T) {
	units := map[string]string{
		"latency": bench.Micro, "bandwidth": bench.MegaPerSec, "bibw": bench.MegaPerSec, "rate": bench.PerSecond,
		"barrier": bench.Micro, "bcast": bench.Micro, "allreduce": bench.Micro, "threads": bench.PerSecond,
		"reduce": bench.Micro, "reduce_scatter": bench.Micro, "allgather": bench.Micro, "alltoall": bench.Micro,
		"alltoallv": bench.Micro, "vector": bench.Micro, "packed": bench.Micro, "winput": bench.Micro,
		"winget": bench.Micro, "accumulate": bench.Micro, "fetch_and_op": bench.Micro,
	}
	for name, unit := range units {
		t.Run(name, func(t *testing.T) {
			c := Config{Bench: name, Sizes: []int{8, 20000}, Threads: []int{1, 50}, Window: time.Millisecond}
			rows, err := collect(t, 2, c)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != 2 {
				t.Fatalf("%d rows, want 2", len(rows))
			}
			for i, r := range rows {
				size, threads := c.Sizes[i], 1
				if name == "threads" {
					size, threads = 8, c.Threads[i]
				}
				if r.Bench != name || r.Unit != unit || r.Size != size || r.Threads != threads || r.Impl != bench.Golci {
					t.Errorf("row %+v", r)
				}
				if r.Value <= 0 && name != "threads" { // a window of 1 ms may be over before a thread runs
					t.Errorf("no value in %+v", r)
				}
			}
		})
	}
}

func TestCollectivesOfThreeRanks(t *testing.T) {
	for _, name := range []string{"barrier", "bcast", "allreduce", "reduce_scatter", "allgather"} {
		rows, err := collect(t, 3, Config{Bench: name, Sizes: []int{64}, Window: time.Millisecond})
		if err != nil || len(rows) != 1 || rows[0].Value <= 0 {
			t.Errorf("%s: rows %+v, error %v", name, rows, err)
		}
	}
}

// TestTail: one row for each quantile, in order.
func TestTail(t *testing.T) {
	rows, err := collect(t, 3, Config{Bench: Tail, Sizes: []int{0, 8, 20000}, Window: time.Millisecond})
	if err != nil || len(rows) != 9 {
		t.Fatalf("rows %+v, error %v", rows, err)
	}
	for i, r := range rows {
		if q := Quantiles[i%3]; r.Bench != TailOf(q) || r.Value <= 0 || i%3 > 0 && r.Value < rows[i-1].Value {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}

func TestQuantilesOfATail(t *testing.T) {
	var took []time.Duration
	for i := range 1000 {
		took = append(took, time.Duration(1000-i)*2*time.Microsecond)
	}
	var got []float64
	for _, r := range quantiles(8, took) {
		got = append(got, r.Value)
	}
	if want := []float64{501, 991, 1000}; !slices.Equal(got, want) {
		t.Errorf("quantiles %v us, want %v", got, want)
	}
}

func TestLatencyLeavesOtherRanksAlone(t *testing.T) {
	rows, err := collect(t, 3, Config{Bench: "latency", Sizes: []int{0}, Window: time.Millisecond})
	if err != nil || len(rows) != 1 {
		t.Errorf("rows %+v, error %v", rows, err)
	}
}

func TestWrongUse(t *testing.T) {
	for _, c := range []struct {
		ranks int
		name  string
		want  error
	}{{1, "latency", ErrRanks}, {1, "threads", ErrRanks}, {3, "threads", ErrRanks}, {2, "speed", ErrName}} {
		_, err := collect(t, c.ranks, Config{Bench: c.name, Sizes: []int{8}, Threads: []int{1}, Window: time.Millisecond})
		if !errors.Is(err, c.want) {
			t.Errorf("%s with %d ranks: error %v, want %v", c.name, c.ranks, err, c.want)
		}
	}
}

func TestSumIsChecked(t *testing.T) {
	for _, bad := range []int{0, 5, 9} {
		v := make([]float32, 10)
		mark(v, 2*7+1)
		if err := checkSum(v, 2, 7); err != nil {
			t.Fatal(err)
		}
		v[bad]++
		if err := checkSum(v, 2, 7); !errors.Is(err, ErrPayload) {
			t.Errorf("element %d wrong: error %v", bad, err)
		}
	}
}

// TestColumnIsChecked: an element that is wrong is found, at either end and, where all are looked at, within.
func TestColumnIsChecked(t *testing.T) {
	for at, whole := range map[int]bool{0: false, 3: true, 9: false} {
		c := newColumn(80)
		c.put(64, true)
		if err := c.look(64, whole); err != nil {
			t.Error(err)
		}
		c.m[at*columns]++
		if err := c.look(64, whole); !errors.Is(err, ErrPayload) {
			t.Errorf("row %d: %v", at, err)
		}
	}
}

// TestFirstCalls: rank 0 has one row of calls, and one of their control.
func TestFirstCalls(t *testing.T) {
	rows, err := collect(t, 3, Config{Bench: FirstCall, Sizes: []int{0}, Window: time.Millisecond})
	if err != nil || len(rows) != 2 || rows[0].Bench != FirstCall || rows[1].Bench != firstControl || rows[0].Value <= 0 {
		t.Errorf("rows %+v, error %v", rows, err)
	}
	broken := errors.New("broken")
	if _, err := medianOfCalls(1, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error of a call: %v", err)
	}
}
