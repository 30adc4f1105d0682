package realm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// lab is one rank while it measures. Rank 0 leads, by a task on its first processor; the others only run what it has
// them run.
type lab struct {
	rt     *realm.Runtime
	job    *rank.Job
	ends   *crossing.Ends
	window time.Duration
	batch  int               // operations of a round, where each is short
	least  int               // rounds of which the median is taken
	procs  []realm.Processor // all CPU processors of the job, first one of each rank, then the second ones
	ball   *ball

	c   *realm.Ctx // of the task that leads; while a measure runs
	ctx context.Context
	err error // the first thing that went wrong; of that task
}

// fullBatch is how many operations a round of something short has.
const fullBatch = 1024

// newLab is called by all ranks, and blocks until they have met.
func newLab(ctx context.Context, rt *realm.Runtime, c Config) (*lab, error) {
	l := &lab{rt: rt, job: rt.OfRank().Job(), window: c.Window}
	part := max(1, c.part)
	l.batch, l.least = fullBatch/part, max(1, leastRound/part)
	var err error
	if l.ball, err = newBall(rt); err != nil {
		return nil, err
	}
	if l.ends, err = crossing.Share(ctx, l.job); err != nil {
		return nil, err
	}
	if err := l.shareProcessors(ctx); err != nil {
		return nil, err
	}
	for _, p := range l.procs {
		if p.Rank() == rt.Rank() { // so that its worker is there, and polls
			if err := rt.Wait(ctx, realm.SpawnLocal(rt, p, func(*realm.Ctx) error { return nil })); err != nil {
				return nil, err
			}
		}
	}
	return l, l.job.Barrier(ctx)
}

// shareProcessors tells all ranks which processors there are.
func (l *lab) shareProcessors(ctx context.Context) error {
	const key = "realm-cpus"
	var mine []string
	for i := range max(1, l.rt.OfRank().Threads().Workers()) {
		mine = append(mine, strconv.FormatUint(uint64(l.rt.CPU(i)), 16))
	}
	if err := l.job.Put(key, []byte(strings.Join(mine, " "))); err != nil {
		return err
	}
	if err := l.job.Fence(ctx); err != nil {
		return err
	}
	for r := range l.job.Size {
		text, err := l.job.Get(ctx, r, key)
		if err != nil {
			return err
		}
		for word := range strings.FieldsSeq(string(text)) {
			p, err := strconv.ParseUint(word, 16, 64)
			if err != nil {
				return fmt.Errorf("processors of rank %d: %w", r, err)
			}
			l.procs = append(l.procs, realm.Processor(p))
		}
	}
	slices.SortStableFunc(l.procs, func(a, b realm.Processor) int { return a.Index() - b.Index() })
	return nil
}

// on is the first processor of a rank.
func (l *lab) on(rank int) realm.Processor { return l.procs[rank] }

// sizesOf are the sizes of a measure in this job. A measure without sizes is measured over 2 ranks, 3, and so on.
func (l *lab) sizesOf(m *measure) []int {
	if m.sizes != nil {
		return m.sizes
	}
	var sizes []int
	for n := 2; n <= min(l.rt.Size(), maxRing); n++ {
		sizes = append(sizes, n)
	}
	return sizes
}

// crossing is the time of a cache line between the first two ranks, or the first two CPUs of a rank that is alone.
func (l *lab) crossing(ctx context.Context) (float64, error) {
	if l.rt.Size() == 1 {
		return crossing.Here()
	}
	if err := l.job.Barrier(ctx); err != nil {
		return 0, err
	}
	time.Sleep(settle)
	return l.ends.Measure(), nil
}

// settle is the time after which idle workers sleep, and leave their cores to the measurement of the crossing.
const settle = time.Millisecond

// measure measures one size, between two crossings.
func (l *lab) measure(ctx context.Context, m *measure, size int, out func(bench.Row)) error {
	return bench.Between(func() (float64, error) { return l.crossing(ctx) }, func() (rows []bench.Row, err error) {
		if l.rt.Rank() == 0 {
			rows, err = l.lead(ctx, m, size)
		}
		return rows, errors.Join(err, l.job.Barrier(ctx))
	}, out)
}

// lead measures in a task of rank 0.
func (l *lab) lead(ctx context.Context, m *measure, size int) (rows []bench.Row, err error) {
	var values [][]float64
	done := make(chan struct{}) // a goroutine that waited for the task's event would poll beside its worker
	realm.SpawnLocal(l.rt, l.on(0), func(c *realm.Ctx) error {
		defer close(done)
		l.c, l.ctx, l.err = c, ctx, nil
		values = l.rounds(m, size)
		return nil
	})
	<-done
	if l.err != nil {
		return nil, l.err
	}
	for i, c := range m.columns {
		rows = append(rows, row(c, size, values[i]))
	}
	return rows, nil
}

const (
	warmUps    = 2
	leastRound = 7
)

// rounds runs rounds for the window, and returns the values of each column.
func (l *lab) rounds(m *measure, size int) [][]float64 {
	values := make([][]float64, len(m.columns))
	run := m.prepare(l, size)
	if !m.once {
		for range warmUps {
			run()
		}
	}
	start := time.Now()
	for n := 0; l.err == nil && l.ctx.Err() == nil; n++ {
		if m.once && n == 1 || !m.once && n >= l.least && time.Since(start) >= l.window {
			break
		}
		for i, v := range run() {
			values[i] = append(values[i], v)
		}
	}
	l.note(l.ctx.Err())
	return values
}

// row is the median of values, their quartiles, and the best of them.
func row(c column, size int, values []float64) bench.Row {
	s := bench.SpreadOf(values)
	r := bench.Row{
		Bench: c.name, Impl: bench.Golci, Size: size, Threads: 1, Value: s.Median, Best: slices.Min(values),
		Unit:     c.unit,
		MinShare: 1, Note: fmt.Sprintf("quartiles %s to %s", bench.Significant(s.Low), bench.Significant(s.High)),
	}
	if c.unit == MegaRate {
		r.Best = slices.Max(values)
	}
	return r
}

// note keeps the first error of a measure, which ends it.
func (l *lab) note(err error) {
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("%w: %w", ErrWrong, err)
	}
}

// wait waits for an event in the task that leads.
func (l *lab) wait(e realm.Event) { l.note(l.c.Wait(e)) }

// watch measures the parts of a round.
type watch struct{ last time.Time }

func start() watch { return watch{time.Now()} }

// lap is the time since the last lap, in ns for each of n.
func (w *watch) lap(n int) float64 {
	now := time.Now()
	took := float64(now.Sub(w.last).Nanoseconds()) / float64(n)
	w.last = time.Now()
	return took
}
