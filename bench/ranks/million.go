package ranks

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// Million is the benchmark of very many threads. In each of two ranks hundreds of thousands of light-weight threads
// block in a receive of their own. All are served, again and again, also while the collector runs. Its rows come in
// this order.
const (
	Million      = "million"          // resident bytes a thread, all of them blocked
	GoMemory     = "million-go"       // the part of that which Go's runtime accounts for
	MillionRate  = "million-rate"     // messages/s of both ranks together, median round
	Collecting   = "million-gc-rate"  // the same while both collect garbage
	CollectionMs = "million-gc-time"  // length of a collection, beginning to end
	PauseMs      = "million-gc-pause" // how long all threads stood still in that
)

// ErrThreads is an error of Run, for errors.Is.
var ErrThreads = errors.New("ranks: bad number of threads")

// millionRounds is how often every thread gets a message for the median.
const millionRounds = 5

// million measures n threads of each rank, dealt out evenly to its workers. It is called outside light-weight threads.
// Every message is compared with what it should be.
func (e *env) million(n int) error {
	switch {
	case e.size != 2:
		return fmt.Errorf("%w: %s needs two, not %d", ErrRanks, Million, e.size)
	case n < e.proc.Threads().Workers() || n-1 > mpi.TagUB:
		return fmt.Errorf("%w: %d on %d workers", ErrThreads, n, e.proc.Threads().Workers())
	}
	c := newMultitude(e.proc, n)
	before := takeMemory()
	if err := c.start(); err != nil {
		return err
	}
	if err := c.blocked(); err != nil {
		return err
	}
	m := takeMemory().since(before)
	var rounds []time.Duration
	for range millionRounds {
		took, err := c.round()
		if err != nil {
			return err
		}
		rounds = append(rounds, took)
	}
	col, err := c.collect()
	if err != nil {
		return err
	}
	if err := e.millionRows(n, m, rounds, col); err != nil {
		return err
	}
	err = c.end()
	runtime.KeepAlive(c)
	return err
}

// millionRows puts what the two ranks saw together. A round ends at the same moment for both ranks, so rank 0's times
// stand for both.
func (e *env) millionRows(n int, m memory, rounds []time.Duration, c collection) error {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	mine := []float64{
		float64(m.resident), float64(m.heap), float64(m.stacks), float64(c.served) / c.took.Seconds(),
		ms(c.took), ms(c.pause),
	}
	both := make([]float64, len(mine))
	if err := mpi.Allreduce(e.comm, mine, both, mpi.Sum); err != nil || e.rank != 0 {
		return err
	}
	all := float64(2 * n)
	slices.Sort(rounds)
	rate := func(d time.Duration) float64 { return all / d.Seconds() }
	for _, r := range []struct {
		name  string
		value float64
		unit  string
		note  string
	}{
		{Million, both[0] / all, "bytes", "resident, a thread"},
		{
			GoMemory, (both[1] + both[2]) / all, "bytes",
			fmt.Sprintf("heap %.0f, stacks %.0f, a thread", both[1]/all, both[2]/all),
		},
		{
			MillionRate, rate(rounds[len(rounds)/2]), bench.PerSecond,
			fmt.Sprintf("%d rounds, %.2f to %.2f M", len(rounds), rate(rounds[len(rounds)-1])/1e6, rate(rounds[0])/1e6),
		},
		{Collecting, both[3], bench.PerSecond, "both ranks collecting"},
		{CollectionMs, both[4] / 2, "ms", "runtime.GC, mean of the ranks"},
		{PauseMs, both[5] / 2, "ms", "stopped, mean of the ranks"},
	} {
		e.out(bench.Row{
			Bench: r.name, Impl: bench.Golci, Size: 8, Threads: n, Value: r.value, Unit: r.unit, MinShare: 1, Note: r.note,
		})
	}
	return nil
}

// multitude is the threads of one rank. Thread i receives under tag i from the other rank.
type multitude struct {
	comm    *mpi.Comm
	sched   *fult.Scheduler
	peer    int
	in      [][1]uint64 // thread i alone uses in[i]
	handles []fult.Handle

	begun  atomic.Int64  // threads that are about to receive
	served atomic.Int64  // messages received by all threads together
	all    chan struct{} // gets a token when served has come to a multiple of the threads, so at the end of each round
	failed bench.Failures
	rounds uint64 // begun so far; of the goroutine that called Run
}

func newMultitude(p *mpi.Proc, n int) *multitude {
	return &multitude{
		comm: p.World(), sched: p.Threads(), peer: 1 - p.World().Rank(),
		in: make([][1]uint64, n), handles: make([]fult.Handle, 0, n),
		all: make(chan struct{}, 1), failed: make(bench.Failures, 1),
	}
}

func (c *multitude) start() error {
	workers := c.sched.Workers()
	for i := range c.in {
		h, err := c.sched.GoOn(i%workers, func(*fult.Thread) { c.failed.Note(c.receive(i)) })
		if err != nil {
			return fmt.Errorf("thread %d of %d: %w", i, len(c.in), err)
		}
		c.handles = append(c.handles, h)
	}
	return nil
}

// receive is thread i: message number k of a thread has the value k.
func (c *multitude) receive(i int) error {
	buf := c.in[i][:]
	c.begun.Add(1)
	for want := uint64(1); ; want++ {
		if _, err := mpi.Recv(c.comm, buf, c.peer, i); err != nil {
			return err
		}
		if buf[0] != want {
			return unwanted(i, buf[0], want)
		}
		if c.served.Add(1)%int64(len(c.in)) == 0 {
			c.all <- struct{}{} // has room: the round before has been waited for
		}
	}
}

// unwanted is the end of a thread, by the last message or by a wrong one. It is apart from receive because whatever
// that has on its stack counts a million times.
//
//go:noinline
func unwanted(i int, got, want uint64) error {
	if got == last {
		return nil
	}
	return fmt.Errorf("%w: thread %d has %d, want %d", ErrPayload, i, got, want)
}

const lookEvery = 10 * time.Millisecond

// blocked returns when every thread of both ranks waits in its receive.
func (c *multitude) blocked() error {
	for c.begun.Load() < int64(len(c.in)) || c.waiting() < len(c.in) {
		if err := c.failed.Pause(lookEvery); err != nil {
			return err
		}
	}
	return c.comm.Barrier()
}

// waiting counts the threads that wait. Of goroutines, as under the race detector, only the runtime knows.
func (c *multitude) waiting() (n int) {
	for t := range c.sched.Threads() {
		if s := t.State(); s == fult.Waiting || s == fult.Unknown {
			n++
		}
	}
	return n
}

// round serves every thread of both ranks once, and returns the time from when both were ready until all are served.
func (c *multitude) round() (time.Duration, error) {
	if err := c.comm.Barrier(); err != nil {
		return 0, err
	}
	c.rounds++
	start := time.Now()
	if err := c.serve(c.rounds); err != nil {
		return 0, err
	}
	select {
	case <-c.all:
	case err := <-c.failed:
		return 0, err
	}
	err := c.comm.Barrier()
	return time.Since(start), err
}

// serve sends value to every thread of the other rank, from one thread on each worker.
func (c *multitude) serve(value uint64) error {
	workers := c.sched.Workers()
	servers := make([]fult.Handle, workers)
	errs := make([]error, workers)
	for w := range servers {
		var err error
		servers[w], err = c.sched.GoOn(w, func(*fult.Thread) { errs[w] = c.send(w, workers, value) })
		if err != nil {
			return err
		}
	}
	var joined []error
	for _, h := range servers {
		joined = append(joined, h.Join())
	}
	return errors.Join(append(joined, errs...)...)
}

func (c *multitude) send(first, step int, value uint64) error {
	out := []uint64{value}
	for i := first; i < len(c.in); i += step {
		if err := mpi.Send(c.comm, out, c.peer, i); err != nil {
			return err
		}
	}
	return nil
}

// end tells every thread to return, and waits for them.
func (c *multitude) end() error {
	if err := c.serve(last); err != nil {
		return err
	}
	for _, h := range c.handles {
		if err := h.Join(); err != nil {
			return err
		}
	}
	select {
	case err := <-c.failed:
		return err
	default:
		return nil
	}
}

// collection is what one rank saw of a garbage collection.
type collection struct {
	took   time.Duration
	pause  time.Duration // of it, with all threads stopped
	served int64         // messages meanwhile
}

// collect collects garbage in both ranks while rounds go on, until both have done.
func (c *multitude) collect() (collection, error) {
	var col collection
	over := make(chan struct{})
	half := c.served.Load() + int64(len(c.in))/10
	go func() {
		defer close(over)
		for c.served.Load() < half && len(c.failed) == 0 {
			time.Sleep(time.Millisecond)
		}
		col = c.collectNow()
	}()
	for {
		if _, err := c.round(); err != nil {
			return col, err
		}
		mine := 0
		select {
		case <-over:
			mine = 1
		default:
		}
		if both, err := mpi.AllreduceOne(c.comm, mine, mpi.Sum); err != nil || both == 2 {
			return col, err
		}
	}
}

func (c *multitude) collectNow() collection {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	served, start := c.served.Load(), time.Now()
	runtime.GC()
	col := collection{took: time.Since(start), served: c.served.Load() - served}
	runtime.ReadMemStats(&after)
	col.pause = time.Duration(after.PauseTotalNs - before.PauseTotalNs)
	return col
}

// memory is what a process uses, in bytes.
type memory struct {
	resident int64 // by the system's account; 0 where it does not tell
	heap     int64 // in use, by the runtime's account
	stacks   int64
}

// takeMemory collects garbage first, so that what it returns is in use.
func takeMemory() memory {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{resident: resident(), heap: int64(m.HeapInuse), stacks: int64(m.StackInuse)}
}

func (m memory) since(before memory) memory {
	return memory{m.resident - before.resident, m.heap - before.heap, m.stacks - before.stacks}
}

// resident reads the resident memory of this process where the system has /proc, else it is 0.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return residentIn(string(text))
}

func residentIn(status string) int64 {
	_, rest, _ := strings.Cut(status, "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
