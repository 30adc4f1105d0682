package rank

import (
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/rank/internal/timeline"
)

// Waits shows on the timeline of a rank what blocked calls have waited for.
type Waits = timeline.Waits

// Trace records what the rank does, for its timeline; nil if none is wanted (GOLCI_TRACE).
func (r *Rank) Trace() *trace.Recorder { return r.timeline.Recorder() }

// Count shows a number on the timeline of the rank, as it changes. read is called about once in a millisecond, by a
// goroutine of the timeline, from the start of the job until the rank ends, and once at that end; it must not block.
// Without a timeline Count does nothing.
func (r *Rank) Count(name string, read func() int64) { r.timeline.Count(name, read) }

// Waits is nil without a timeline.
func (r *Rank) Waits() *Waits { return r.timeline.Waits() }

// WorkerTrack is the track of a worker, on which only its OS thread may record; nil without a timeline, and where
// threads are goroutines.
func (r *Rank) WorkerTrack(worker int) *trace.Track { return r.timeline.WorkerTrack(worker) }

// CallerTrack is the track on which the caller, a handler too, may record until it blocks or returns: that of its
// worker, or of the poll that it runs in. If it is shared with other goroutines only AddShared may be called. It is
// nil without a timeline.
func (r *Rank) CallerTrack() (l *trace.Track, shared bool) { return r.timeline.CallerTrack() }
