// Package amrank measures active messages between two ranks: the round trip of a request and its reply, and a flood
// of requests. It uses the public API of am over shared memory.
package amrank

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/rank"
)

// Names of the rows.
const (
	RoundTrip = "am"       // us, request and reply
	Flood     = "am-flood" // ns a message, one way
)

// ErrPayload is an error of Run, for errors.Is.
var ErrPayload = errors.New("amrank: wrong arguments or payload")

// least is the iterations of the calibrating pass, and the fewest of the timed one.
const least = 10000

// Run is called by both ranks with the same arguments and blocks until all is measured. A size of 0 is a Short
// request with one argument, any other a Medium one with so many bytes of payload, answered in kind. Rank 0's out
// gets the rows. Nobody else polls the rank.
func Run(ctx context.Context, r *rank.Rank, sizes []int, d time.Duration, out func(bench.Row)) error {
	return run(ctx, &end{job: r.Job(), ep: r.Endpoint(), out: out, least: least}, r, sizes, d)
}

func run(ctx context.Context, r *end, on *rank.Rank, sizes []int, d time.Duration) error {
	job, ep := r.job, r.ep
	for _, size := range sizes {
		r.most = max(r.most, size)
	}
	if r.most > ep.MaxMedium() {
		return fmt.Errorf("amrank: %w: %d bytes, a Medium message has at most %d", am.ErrSize, r.most, ep.MaxMedium())
	}
	if err := r.register(); err != nil {
		return fmt.Errorf("amrank: %w", err)
	}
	var err error
	if r.pair, err = twin.NewPair(ctx, on); err != nil {
		return fmt.Errorf("amrank: %w", err)
	}
	for _, m := range measurements {
		for _, size := range sizes {
			if err := r.measure(ctx, m, size, d); err != nil {
				return fmt.Errorf("amrank: size %d: %w", size, err)
			}
		}
	}
	return job.Barrier(ctx)
}

// end is one of the two. It belongs to the goroutine that called Run, which also polls, so that handlers run on it.
type end struct {
	job     *rank.Job
	ep      *am.Endpoint
	pair    *twin.Pair
	out     func(bench.Row)
	most    int    // largest payload
	least   int    // iterations
	answers uint64 // replies that came to rank 0
	seen    uint64 // flood requests that came to rank 1
	wrong   error  // the first difference, found by a handler
}

type measurement struct {
	name, unit string
	units      float64 // in a second
	run        func(r *end, payload []byte, n int) error
}

var measurements = []measurement{
	{RoundTrip, bench.Micro, 1e6, (*end).pingPong},
	{Flood, bench.Nano, 1e9, (*end).flood},
}

func (r *end) measure(ctx context.Context, m measurement, size int, d time.Duration) error {
	return r.pair.Measure(ctx, func() ([]bench.Row, error) {
		value, err := r.lead(m, size, d)
		return []bench.Row{{
			Bench: m.name, Impl: bench.Golci, Size: size, Threads: 1, Value: value, Unit: m.unit, MinShare: 1,
		}}, err
	}, func() error { return r.pair.Follow(r.broken) }, r.out)
}

func (r *end) lead(m measurement, size int, d time.Duration) (float64, error) {
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(i)
	}
	n := r.least
	start := time.Now()
	if err := m.run(r, payload, n); err != nil {
		return 0, err
	}
	n = max(n, int(float64(n)*float64(d)/float64(max(1, time.Since(start)))))
	start = time.Now()
	err := m.run(r, payload, n)
	took := time.Since(start)
	if err == nil {
		err = r.pair.Over()
	}
	return took.Seconds() * m.units / float64(n), errors.Join(err, r.wrong)
}

// broken is the reason why a wait may never end.
func (r *end) broken() error {
	if r.wrong != nil {
		return r.wrong
	}
	return r.ep.Err()
}
