package timeline

import "github.com/golci/golci/internal/observe/trace"

// Waits shows on the timeline of a rank what blocked calls have waited for.
type Waits struct{ t *Timeline }

// Waits is nil without a timeline.
func (t *Timeline) Waits() *Waits {
	if t == nil {
		return nil
	}
	return &Waits{t}
}

// Begin gives the time at which a wait begins.
func (w *Waits) Begin() uint64 { return w.t.rec.Now() }

// End records a wait of the caller that is over: what for, since when, and for which peer and tag; -1 stands for any,
// and for none. Threads that wait let others run, so waits are spans.
func (w *Waits) End(what string, since uint64, peer, tag int) {
	l := trace.Label{Text: what, Category: "wait"}
	if peer >= 0 {
		l.Args[0] = "peer"
	}
	if tag >= 0 {
		l.Args[1] = "tag"
	}
	rec := w.t.rec
	e := trace.Record{
		Start: since, End: rec.Now(), A: uint64(peer), B: uint64(tag), Name: rec.Name(l), Kind: trace.Span,
	}
	if lane, shared := w.t.CallerTrack(); shared {
		lane.AddShared(e)
	} else {
		lane.Add(e)
	}
}
