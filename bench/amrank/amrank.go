// Package amrank measures active messages between two ranks, through the public API of comm/am over shared memory: the
// round trip of a request and its reply, and a flood of requests.
package amrank

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/shm"
)

// Names of the rows.
const (
	RoundTrip = "am"       // us, request and reply
	Flood     = "am-flood" // ns a message, one way
)

// Errors of Run, for errors.Is.
var (
	ErrRanks   = errors.New("amrank: needs two ranks on one node")
	ErrPayload = errors.New("amrank: wrong arguments or payload")
)

// least is the iterations of the calibrating pass, and the fewest of the timed one.
const least = 10000

// Join finds this rank's job and connects it; leave undoes both, on every rank, and must be called.
func Join(ctx context.Context) (job *boot.Job, c conduit.Conduit, leave func() error, err error) {
	job, err = boot.Join(ctx)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("amrank: %w", err)
	}
	if job.Size != 2 || len(job.LocalRanks) != 2 {
		return nil, nil, nil, errors.Join(fmt.Errorf("%w, not %d", ErrRanks, job.Size), job.Finalize(ctx))
	}
	c, err = shm.New(shm.Config{
		Rank: job.Rank, Size: job.Size, JobID: job.JobID, Key: string(job.Key), Local: job.LocalRanks,
	})
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("amrank: %w", err), job.Finalize(ctx))
	}
	return job, c, func() error { return errors.Join(c.Close(), job.Finalize(ctx)) }, nil
}

// Run is called by both ranks with the same arguments and blocks until all is measured. A size of 0 is a Short request with one
// argument, any other a Medium one with so many bytes of payload, answered in kind. Rank 0's out gets the rows.
func Run(ctx context.Context, job *boot.Job, c conduit.Conduit, sizes []int, d time.Duration, out func(bench.Row)) error {
	ep, err := am.New(c, am.Config{})
	if err != nil {
		return fmt.Errorf("amrank: %w", err)
	}
	defer ep.Close()
	return run(ctx, &rank{job: job, ep: ep, out: out, least: least}, sizes, d)
}

func run(ctx context.Context, r *rank, sizes []int, d time.Duration) error {
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
	if err := r.line.open(ctx, job); err != nil {
		return fmt.Errorf("amrank: %w", err)
	}
	defer r.line.close()
	for _, m := range []measurement{roundTrip, flood} {
		for _, size := range sizes {
			if err := r.measure(ctx, m, size, d); err != nil {
				return fmt.Errorf("amrank: size %d: %w", size, err)
			}
		}
	}
	return job.Barrier(ctx)
}

// rank is one end. It belongs to the goroutine that called Run, which also polls, so that handlers run on it.
type rank struct {
	job     *boot.Job
	ep      *am.Endpoint
	line    line
	out     func(bench.Row)
	most    int    // largest payload
	least   int    // iterations
	answers uint64 // replies that came to rank 0
	seen    uint64 // flood requests that came to rank 1
	over    bool   // rank 0 has ended the measurement
	wrong   error  // the first difference, found by a handler
}

// measurement is what rank 0 does; rank 1 polls meanwhile.
type measurement struct {
	name, unit string
	run        func(r *rank, payload []byte, n int) error
	value      func(n int, took time.Duration) float64
}

var roundTrip = measurement{
	name: RoundTrip, unit: bench.Micro, run: (*rank).pingPong,
	value: func(n int, took time.Duration) float64 { return took.Seconds() * 1e6 / float64(n) },
}

var flood = measurement{
	name: Flood, unit: bench.Nano, run: (*rank).flood,
	value: func(n int, took time.Duration) float64 { return took.Seconds() * 1e9 / float64(n) },
}

func (r *rank) measure(ctx context.Context, m measurement, size int, d time.Duration) error {
	before, err := r.line.crossing(ctx, r.job)
	if err != nil {
		return err
	}
	row := bench.Row{Bench: m.name, Impl: bench.Golci, Size: size, Threads: 1, Unit: m.unit, MinShare: 1}
	if r.job.Rank == 0 {
		row.Value, err = r.lead(m, size, d)
	} else {
		err = r.follow()
	}
	if err != nil {
		return err
	}
	after, err := r.line.crossing(ctx, r.job)
	if err != nil {
		return err
	}
	row.SetCrossing(before, after)
	if r.job.Rank == 0 {
		r.out(row)
	}
	return nil
}

func (r *rank) lead(m measurement, size int, d time.Duration) (float64, error) {
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
		err = r.ep.RequestShort(1, hOver)
	}
	return m.value(n, took), errors.Join(err, r.wrong)
}

func (r *rank) follow() error {
	for r.over = false; !r.over; {
		r.ep.Poll()
		if err := r.broken(); err != nil {
			return err
		}
	}
	return nil
}

// broken is the reason why a wait may never end.
func (r *rank) broken() error {
	if r.wrong != nil {
		return r.wrong
	}
	return r.ep.Err()
}
