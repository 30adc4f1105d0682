package ranks

import (
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// Asserts is the benchmark of the promises of a communicator (mpi.Assert): one way of a round trip whose receives are
// posted before the messages are sent. Its rows are named by AssertsOf.
const Asserts = "asserts"

type assertion struct {
	name string
	made mpi.Assert
}

// assertions begin with none, which the others are compared with.
var assertions = []assertion{
	{"none", mpi.Assert{}},
	{"source", mpi.Assert{NoAnySource: true}},
	{"tag", mpi.Assert{NoAnyTag: true}},
	{"overtake", mpi.Assert{AllowOvertaking: true}},
	{"length", mpi.Assert{ExactLength: true}},
	{"first", mpi.Assert{NoAnySource: true, NoAnyTag: true, ExactLength: true}},
}

// AssertsOf are the names of the rows.
func AssertsOf() (names []string) {
	for _, a := range assertions {
		names = append(names, Asserts+"-"+a.name)
	}
	return names
}

// assertRounds is how often each set is measured, in turn with the others. A row is the median.
const assertRounds = 9

// asserts measures all sets of promises in turn, so that they meet the same states of the machine.
func (e *env) asserts(c Config, size int) error {
	if e.size < 2 {
		return ErrRanks
	}
	comms := make([]*mpi.Comm, len(assertions))
	for i, a := range assertions {
		d, err := e.comm.DupWith(a.made)
		if err != nil {
			return err
		}
		comms[i] = d
	}
	least := c.iterations(size, 1000, 100)
	took, err := e.postedTrips(comms[0], size, least)
	if err != nil {
		return err
	}
	n, err := e.agree(took, least, c.Window/assertRounds)
	if err != nil {
		return err
	}
	values := make([][]float64, len(assertions))
	for range assertRounds {
		for i, d := range comms {
			took, err := e.postedTrips(d, size, n)
			if err != nil {
				return err
			}
			values[i] = append(values[i], oneWay(size, n, took.Seconds()))
		}
	}
	for i, name := range AssertsOf() {
		slices.Sort(values[i])
		row := bench.Row{Bench: name, Impl: bench.Golci, Size: size, Threads: 1, Unit: bench.Micro, MinShare: 1}
		if err := e.measured(row, func(r *bench.Row) error {
			r.Value = values[i][assertRounds/2]
			return comms[i].Free()
		}); err != nil {
			return err
		}
	}
	return nil
}

// postedTrips makes n round trips between rank 0 and rank 1. A receive is posted before its message can be sent.
func (e *env) postedTrips(c *mpi.Comm, size, n int) (time.Duration, error) {
	if err := e.comm.Barrier(); err != nil || e.rank > 1 {
		return 0, err
	}
	out, in, peer := e.send[:size], e.recv[:size], 1-e.rank
	r, err := mpi.Irecv(c, in, peer, tagData)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range n {
		if e.rank == 0 {
			if err := mpi.Send(c, out, peer, tagData); err != nil {
				return 0, err
			}
		}
		if _, err := r.Wait(); err != nil {
			return 0, err
		}
		if i+1 < n {
			if r, err = mpi.Irecv(c, in, peer, tagData); err != nil {
				return 0, err
			}
		}
		if e.rank == 1 {
			if err := mpi.Send(c, out, peer, tagData); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(start), nil
}
