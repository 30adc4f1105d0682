package rank

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/trace"
)

const partEnding = ".part" // of the name of a file that stays as it is recorded

// timeline is what a rank records of itself. A nil one, that of most ranks, does nothing.
type timeline struct {
	rec   *trace.Recorder
	part  string // file that is recorded
	final string // the timeline made of it in the end; "" if the part stays
	tell  func(error)
	wire  *traced // nil before over
	sched *fult.Scheduler
	began int64 // on the machine's clock

	clocks   clocks
	counters counters
	once     sync.Once // of close

	workers    []*trace.Track // each belongs to the worker's OS thread
	poller     *trace.Track   // belongs to the goroutine that polls
	goroutines *trace.Track   // shared
	numbers    *trace.Track   // belongs to the goroutine that looks at counters
}

// startTimeline begins the file that GOLCI_TRACE names for this rank, if it names one.
func startTimeline(r *Rank) *timeline {
	files := settings.TraceOf(r.opts.values)
	path := files.Timeline
	if path == "" {
		return nil
	}
	t := &timeline{sched: r.sched, tell: func(err error) {
		fmt.Fprintf(os.Stderr, "golci: rank %d of %d: %v\n", r.job.Rank-r.job.First, r.job.Mates, err)
	}}
	if base, ok := strings.CutSuffix(path, partEnding); ok {
		t.part = rankFile(base, r.job.Rank, r.job.Size) + partEnding
	} else {
		t.final = rankFile(path, r.job.Rank, r.job.Size)
		t.part = t.final + partEnding
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	t.rec, err = trace.New(trace.Config{
		Path: t.part, Rank: r.job.Rank, Size: r.job.Size, Host: host,
		Limit: files.Limit, Tell: t.tell,
	})
	if err != nil {
		t.tell(err)
		return nil
	}
	t.began, t.clocks.stop = trace.MachineTime(), make(chan struct{})
	t.makeTracks()
	return t
}

// publishStart lets the other ranks have the time at which rank 0 began, which is 0 in the timelines of all. It is
// called before the start barrier.
func (t *timeline) publishStart(r *Rank) {
	if t == nil || r.job.Rank != 0 {
		return
	}
	t.rec.SetZero(t.began)
	if err := r.job.Put(r.opts.keyName("trace"), fmt.Append(nil, t.began, " ", trace.MachineID())); err != nil {
		t.tell(err)
	}
}

// align takes what rank 0 has published. It is called after the start barrier. If rank 0 has no timeline the others
// begin at times of their own.
func (t *timeline) align(ctx context.Context, r *Rank) {
	if t == nil || r.job.Rank == 0 {
		return
	}
	b, err := r.job.Get(ctx, 0, r.opts.keyName("trace"))
	if err != nil {
		return
	}
	var zero int64
	var machine string
	if _, err := fmt.Sscan(string(b), &zero, &machine); err != nil {
		t.tell(fmt.Errorf("rank 0 says %q of its timeline: %w", b, err))
		return
	}
	t.rec.SetZero(zero)
	if machine != trace.MachineID() {
		t.clocks.followClock()
	}
}

func (t *timeline) makeTracks() {
	for i := range t.sched.Workers() {
		if t.sched.Kind() != fult.Fult {
			break // its threads are goroutines
		}
		t.workers = append(t.workers, t.rec.Track(fmt.Sprintf("worker %d", i)))
	}
	t.poller, t.goroutines = t.rec.Track("poller"), t.rec.Track("goroutines")
	t.numbers = t.rec.Track("counters")
}

// recordOver is the conduit c, or one that records what passes through it.
func (t *timeline) recordOver(c conduit.Conduit) conduit.Conduit {
	if t == nil {
		return c
	}
	t.wire = newTraced(c, t)
	return t.wire.faced()
}

// followEndpoint tells of the endpoint over the conduit, before anything polls.
func (t *timeline) followEndpoint(r *Rank, ep *am.Endpoint) error {
	if t == nil {
		return nil
	}
	t.wire.ep = ep
	t.clocks.ep, t.clocks.rec = ep, t.rec
	r.Count("bytes sent", t.wire.sentBytes.Load)
	r.Count("bytes received", t.wire.cameBytes.Load)
	return ep.Attach(t.clocks.layer())
}

// WorkerTrack is the track of a worker, on which only its OS thread may record; nil without a timeline, and where
// threads are goroutines.
func (r *Rank) WorkerTrack(worker int) *trace.Track {
	if r.timeline == nil || r.timeline.workers == nil {
		return nil
	}
	return r.timeline.workers[worker]
}

// CallerTrack is the track on which the caller, a handler too, may record until it blocks or returns: that of its
// worker, or of the poll that it runs in. If it is shared with other goroutines only AddShared may be called. It is
// nil without a timeline.
func (r *Rank) CallerTrack() (l *trace.Track, shared bool) {
	if r.timeline == nil {
		return nil, false
	}
	return r.timeline.wire.ownTrack()
}

func (t *timeline) recorder() *trace.Recorder {
	if t == nil {
		return nil
	}
	return t.rec
}

// closeTimeline writes what has been recorded. It may be called again.
func (t *timeline) closeTimeline() {
	if t != nil {
		t.once.Do(t.clocks.closeClocks)
		t.counters.closeCounters()
		t.rec.Close()
	}
}

// finishPart makes the timeline of the part.
func (t *timeline) finishPart() {
	t.closeTimeline()
	if t == nil {
		return
	}
	t.clocks.ended.Wait()
	if t.final == "" {
		return
	}
	if _, err := trace.WriteFile(t.final, []string{t.part}); err != nil {
		t.tell(fmt.Errorf("no timeline, what was recorded is in %s: %w", t.part, err))
		return
	}
	if err := os.Remove(t.part); err != nil {
		t.tell(err)
	}
}
