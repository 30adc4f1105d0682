package ranks

import (
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// Tail is the benchmark of single round trips. Its rows are named by TailOf.
const Tail = "tail"

// Quantiles are those that Tail reports.
var Quantiles = []Quantile{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}

// Quantile is a part of the round trips, those of at most the reported time.
type Quantile struct {
	Name string
	Part float64
}

// TailOf is the Row.Bench of a quantile.
func TailOf(q Quantile) string { return Tail + "-" + q.Name }

const (
	leastTrips = 10_000  // ten of them lie beyond the last quantile
	mostTrips  = 1 << 22 // bounds the memory
	mostTime   = 10      // windows, after which leastTrips are not waited for
	batch      = 100     // trips, after which rank 0 tells rank 1 whether more follow
)

// tail times each round trip of the loop of latency by itself. It lasts for the window, and for at least leastTrips
// round trips if they do not take much longer. Each message carries its number, which is compared.
func (e *env) tail(c Config, size int) error {
	if e.size < 2 {
		return ErrRanks
	}
	if _, err := latency(e, size, c.iterations(size, 1000, 100), true); err != nil {
		return err
	}
	return bench.Between(e.crossing, func() ([]bench.Row, error) {
		switch e.rank {
		case 0:
			took, err := e.trips(size, c.iterations(0, leastTrips, leastTrips), c.Window)
			return quantiles(size, took), err
		case 1:
			return nil, e.answers(size)
		}
		return nil, nil
	}, e.out)
}

func quantiles(size int, took []time.Duration) (rows []bench.Row) {
	slices.Sort(took)
	for _, q := range Quantiles {
		if len(took) > 0 {
			at := took[min(len(took)-1, int(q.Part*float64(len(took))))]
			rows = append(rows, bench.Row{
				Bench: TailOf(q), Impl: bench.Golci, Size: size, Threads: 1, Value: float64(at.Nanoseconds()) / 2e3,
				Unit: bench.Micro, MinShare: 1,
			})
		}
	}
	return rows
}

// trips is rank 0's side.
func (e *env) trips(size, least int, window time.Duration) (took []time.Duration, err error) {
	out, in := e.send[:size], e.recv[:size]
	start := time.Now()
	for more := []byte{1}; more[0] == 1; {
		for range batch {
			stamp(out, len(took))
			began := time.Now()
			if err := mpi.Send(e.comm, out, 1, tagData); err != nil {
				return nil, err
			}
			if _, err := mpi.Recv(e.comm, in, 1, tagData); err != nil {
				return nil, err
			}
			took = append(took, time.Since(began))
			if err := checkStamp(in, len(took)-1); err != nil {
				return nil, err
			}
		}
		spent := time.Since(start)
		if len(took) >= mostTrips || spent >= mostTime*window || spent >= window && len(took) >= least {
			more[0] = 0
		}
		if err := mpi.Send(e.comm, more, 1, tagBack); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// answers is rank 1's side.
func (e *env) answers(size int) error {
	out, in := e.send[:size], e.recv[:size]
	n := 0
	for more := []byte{1}; more[0] == 1; {
		for range batch {
			stamp(out, n)
			if _, err := mpi.Recv(e.comm, in, 0, tagData); err != nil {
				return err
			}
			if err := checkStamp(in, n); err != nil {
				return err
			}
			if err := mpi.Send(e.comm, out, 0, tagData); err != nil {
				return err
			}
			n++
		}
		if _, err := mpi.Recv(e.comm, more, 0, tagBack); err != nil {
			return err
		}
	}
	return nil
}
