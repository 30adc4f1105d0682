package timeline

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/trace"
)

const partEnding = ".part" // of the name of a file that stays as it is recorded

// Timeline is what a rank records of itself. A nil one, that of most ranks, does nothing.
type Timeline struct {
	job   *boot.Job
	key   string // of the job's store, under which rank 0 tells when it began
	rec   *trace.Recorder
	part  string // file that is recorded
	final string // the timeline made of it in the end; "" if the part stays
	tell  func(error)
	wire  *traced // nil before RecordOver
	sched *fult.Scheduler
	began int64 // on the machine's clock

	clocks   clocks
	counters counters
	once     sync.Once // of Close

	workers    []*trace.Track // each belongs to the worker's OS thread
	poller     *trace.Track   // belongs to the goroutine that polls
	goroutines *trace.Track   // shared
	numbers    *trace.Track   // belongs to the goroutine that looks at counters
}

// Start begins the file that GOLCI_TRACE names for a rank of job, if it names one. key is a key of the job's store for
// this rank's use.
func Start(job *boot.Job, values *settings.Set, sched *fult.Scheduler, key string) *Timeline {
	files := settings.TraceOf(values)
	path := files.Timeline
	if path == "" {
		return nil
	}
	t := &Timeline{job: job, key: key, sched: sched, tell: func(err error) {
		fmt.Fprintf(os.Stderr, "golci: rank %d of %d: %v\n", job.Rank-job.First, job.Mates, err)
	}}
	if base, ok := strings.CutSuffix(path, partEnding); ok {
		t.part = settings.RankFile(base, job.Rank, job.Size) + partEnding
	} else {
		t.final = settings.RankFile(path, job.Rank, job.Size)
		t.part = t.final + partEnding
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	t.rec, err = trace.New(trace.Config{
		Path: t.part, Rank: job.Rank, Size: job.Size, Host: host,
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

// PublishStart lets the other ranks have the time at which rank 0 began, which is 0 in the timelines of all. It is
// called before the start barrier.
func (t *Timeline) PublishStart() {
	if t == nil || t.job.Rank != 0 {
		return
	}
	t.rec.SetZero(t.began)
	if err := t.job.Put(t.key, fmt.Append(nil, t.began, " ", trace.MachineID())); err != nil {
		t.tell(err)
	}
}

// Align takes what rank 0 has published. It is called after the start barrier. If rank 0 has no timeline the others
// begin at times of their own.
func (t *Timeline) Align(ctx context.Context) {
	if t == nil || t.job.Rank == 0 {
		return
	}
	b, err := t.job.Get(ctx, 0, t.key)
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

func (t *Timeline) makeTracks() {
	for i := range t.sched.Workers() {
		if t.sched.Kind() != fult.Fult {
			break // its threads are goroutines
		}
		t.workers = append(t.workers, t.rec.Track(fmt.Sprintf("worker %d", i)))
	}
	t.poller, t.goroutines = t.rec.Track("poller"), t.rec.Track("goroutines")
	t.numbers = t.rec.Track("counters")
}

// RecordOver is the conduit c, or one that records what passes through it.
func (t *Timeline) RecordOver(c conduit.Conduit) conduit.Conduit {
	if t == nil {
		return c
	}
	t.wire = newTraced(c, t)
	return t.wire.faced()
}

// FollowEndpoint tells of the endpoint over the conduit, before anything polls.
func (t *Timeline) FollowEndpoint(ep *am.Endpoint) error {
	if t == nil {
		return nil
	}
	t.wire.ep = ep
	t.clocks.ep, t.clocks.rec = ep, t.rec
	t.Count("bytes sent", t.wire.sentBytes.Load)
	t.Count("bytes received", t.wire.cameBytes.Load)
	return ep.Attach(t.clocks.layer())
}

// WorkerTrack is the track of a worker, on which only its OS thread may record; nil without a timeline, and where
// threads are goroutines.
func (t *Timeline) WorkerTrack(worker int) *trace.Track {
	if t == nil || t.workers == nil {
		return nil
	}
	return t.workers[worker]
}

// CallerTrack is the track on which the caller, a handler too, may record until it blocks or returns: that of its
// worker, or of the poll that it runs in. If it is shared with other goroutines only AddShared may be called. It is
// nil without a timeline.
func (t *Timeline) CallerTrack() (l *trace.Track, shared bool) {
	if t == nil {
		return nil, false
	}
	return t.wire.ownTrack()
}

// AlignWith gives t the zero of another timeline of this process.
func (t *Timeline) AlignWith(first *Timeline) {
	if t != nil && first != nil {
		t.rec.SetZero(first.began)
	}
}

// Recorder is nil without a timeline.
func (t *Timeline) Recorder() *trace.Recorder {
	if t == nil {
		return nil
	}
	return t.rec
}

// Close writes what has been recorded. It may be called again.
func (t *Timeline) Close() {
	if t != nil {
		t.once.Do(t.clocks.closeClocks)
		t.counters.closeCounters()
		t.rec.Close()
	}
}

// FinishPart makes the timeline of the part.
func (t *Timeline) FinishPart() {
	t.Close()
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
