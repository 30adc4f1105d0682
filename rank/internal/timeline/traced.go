package timeline

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/platform/arch"
)

// traced is a conduit that records what passes through it: messages as slices that arrows join, polls that found
// something, bulk data, accesses to remote memory, and sleeps. A rank without a timeline has none, and pays nothing.
//
// Records of a pair are counted at both ends. The last eight bits of the count travel in the record (am.Mark), since
// records may overtake each other.
type traced struct {
	conduit.Conduit
	t     *Timeline
	ep    *am.Endpoint    // set before traffic
	sched *fult.Scheduler // of threads that are coroutines, else nil
	out   []outgoing      // by peer; each belongs to the holder of the pair's lock
	bulks []uint64        // when BulkReserve began, by peer; of the holder of the pair's bulk lock
	names names

	sentBytes, cameBytes atomic.Int64 // of messages and bulk data

	// Of the poller. Only polling is read by others, which compare it with themselves.
	polling atomic.Uint64 // the goroutine in Poll, or 0
	sink    conduit.Sink
	track   *trace.Track
	next    []uint32 // by peer: the count of the next record
	handled int      // records and chunks in this poll
}

// outgoing is what is known of records to a peer.
type outgoing struct {
	count uint32
	began uint64 // the last Reserve
}

func newTraced(c conduit.Conduit, t *Timeline) *traced {
	n := c.Size()
	w := &traced{Conduit: c, t: t, out: make([]outgoing, n), bulks: make([]uint64, n), next: make([]uint32, n)}
	w.names.define(t.rec)
	if len(t.workers) > 0 {
		w.sched = t.sched
	}
	return w
}

// faced is w with the optional methods that the conduit inside has.
func (w *traced) faced() conduit.Conduit {
	r, remote := w.Conduit.(conduit.Remote)
	k, takes := w.Conduit.(conduit.Taker)
	switch {
	case remote && takes:
		return struct {
			*traced
			tracedRemote
			tracedTaker
		}{w, tracedRemote{r, w}, tracedTaker{k, w}}
	case remote:
		return struct {
			*traced
			tracedRemote
		}{w, tracedRemote{r, w}}
	case takes:
		return struct {
			*traced
			tracedTaker
		}{w, tracedTaker{k, w}}
	}
	return w
}

// ownTrack is the caller's track: that of its worker, or of the poll that it runs in. Others share one.
func (w *traced) ownTrack() (l *trace.Track, shared bool) {
	if w.polling.Load() == uint64(arch.G()) {
		return w.track, false
	}
	if w.sched != nil {
		if t := w.sched.Current(); t != nil {
			return w.t.workers[t.Worker().ID()], false
		}
	}
	return w.t.goroutines, true
}

// recordDone records a slice that ends now.
func (w *traced) recordDone(n trace.Name, start uint64, a, b int) {
	e := trace.Record{Start: start, A: uint64(a), B: uint64(b), Name: n, Kind: trace.Slice}
	if l, shared := w.ownTrack(); shared {
		l.AddShared(e)
	} else {
		e.End = w.t.rec.Now()
		l.Add(e)
	}
}

func (w *traced) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	rec, st := w.Conduit.Reserve(peer, class, n)
	if st == conduit.OK {
		w.out[peer].began = w.t.rec.Now()
	}
	return rec, st
}

func (w *traced) Commit(peer int, first uint64) {
	o := &w.out[peer]
	e := trace.Record{
		Start: o.began, A: uint64(peer), B: uint64(uint32(first)), Flow: flowID(w.Rank(), peer, o.count),
		Name: w.names.sent(w, am.HandlerOf(first)), Kind: trace.Slice | trace.FlowOut,
	}
	w.sentBytes.Add(int64(e.B))
	first = am.Mark(first, uint8(o.count))
	o.count++
	l, shared := w.ownTrack()
	if shared {
		l.AddShared(e) // which is at the time of this call, and no message is handled before it is sent
	}
	w.Conduit.Commit(peer, first)
	if !shared {
		e.End = w.t.rec.Now()
		l.Add(e)
	}
}

// flowID is the arrow of a record, the count-th of its pair.
func flowID(from, to int, count uint32) uint64 {
	return uint64(uint16(from))<<48 | uint64(uint16(to))<<32 | uint64(count)
}

func (w *traced) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	start := w.t.rec.Now()
	n, kept = w.Conduit.BulkSend(peer, id, off, data, keep)
	if n > 0 {
		w.sentBytes.Add(int64(n))
		w.recordDone(w.names.bulkSend, start, peer, n)
	}
	return n, kept
}

func (w *traced) BulkReserve(peer, n int) ([]byte, conduit.Status) {
	start := w.t.rec.Now()
	space, st := w.Conduit.BulkReserve(peer, n)
	if st == conduit.OK {
		w.bulks[peer] = start
	}
	return space, st
}

func (w *traced) BulkCommit(peer int, id uint64, off int64, n int) {
	w.Conduit.BulkCommit(peer, id, off, n)
	w.sentBytes.Add(int64(n))
	w.recordDone(w.names.bulkSend, w.bulks[peer], peer, n)
}

// Sleep records a sleep as a span: another goroutine may sleep when this one is about to record that it did.
func (w *traced) Sleep(d time.Duration, ready func() bool) bool {
	start := w.t.rec.Now()
	slept := w.Conduit.Sleep(d, ready)
	if slept {
		w.t.goroutines.AddShared(trace.Record{
			Start: start, End: w.t.rec.Now(), Name: w.names.sleep, Kind: trace.Span,
		})
	}
	return slept
}

// Poll is called under the endpoint's poll lock.
func (w *traced) Poll(budget int, sink conduit.Sink) int {
	w.sink, w.handled, w.track = sink, 0, w.t.poller
	if p := w.ep.PollingWorker(); p != nil && w.sched != nil {
		w.track = w.t.workers[p.ID()]
	}
	w.polling.Store(uint64(arch.G()))
	start := w.t.rec.Now()
	n := w.Conduit.Poll(budget, (*tracedSink)(w))
	if w.handled > 0 {
		w.track.Add(trace.Record{
			Start: start, End: w.t.rec.Now(), A: uint64(w.handled), Name: w.names.poll, Kind: trace.Slice,
		})
	}
	w.polling.Store(0)
	return n
}

// tracedSink stands between the conduit and the endpoint. The poller owns it.
type tracedSink traced

// Record records a handler.
func (s *tracedSink) Record(src int, rec []byte) {
	w := (*traced)(s)
	e := w.recordArrived(src, rec)
	w.sink.Record(src, rec)
	e.End = w.t.rec.Now()
	w.handled++
	w.track.Add(e)
}

// recordArrived is the slice of a record of src, which begins now. It counts the record.
func (w *traced) recordArrived(src int, rec []byte) trace.Record {
	mark, h := am.Marked(rec)
	count := w.next[src] + uint32(int32(int8(mark-uint8(w.next[src])))) // the nearest count with that mark
	if int32(count-w.next[src]) >= 0 {
		w.next[src] = count + 1
	}
	w.cameBytes.Add(int64(len(rec)))
	return trace.Record{
		Start: w.t.rec.Now(), A: uint64(src), B: uint64(len(rec)), Flow: flowID(src, w.Rank(), count),
		Name: w.names.handled(w, h), Kind: trace.Slice | trace.FlowIn,
	}
}

// Bulk records the arrival of a chunk.
func (s *tracedSink) Bulk(src int, id uint64, off int64, chunk []byte) {
	start := s.t.rec.Now()
	s.sink.Bulk(src, id, off, chunk)
	s.handled++
	s.cameBytes.Add(int64(len(chunk)))
	(*traced)(s).recordDone(s.names.bulk, start, src, len(chunk))
}

// Gone records the death of a peer.
func (s *tracedSink) Gone(peer int, err error) {
	s.track.Add(trace.Record{Start: s.t.rec.Now(), A: uint64(peer), Name: s.names.gone, Kind: trace.Instant})
	s.sink.Gone(peer, err)
}

// tracedRemote records accesses.
type tracedRemote struct {
	conduit.Remote
	w *traced
}

// Get records what it has begun to fetch.
func (r tracedRemote) Get(peer int, dst []byte, k conduit.Key, off int64, c conduit.Completion) int {
	start := r.w.t.rec.Now()
	n := r.Remote.Get(peer, dst, k, off, c)
	if n > 0 {
		r.w.recordDone(r.w.names.get, start, peer, n)
	}
	return n
}

// Put records what it has begun to write.
func (r tracedRemote) Put(peer int, src []byte, k conduit.Key, off int64, c conduit.Completion) int {
	start := r.w.t.rec.Now()
	n := r.Remote.Put(peer, src, k, off, c)
	if n > 0 {
		r.w.recordDone(r.w.names.put, start, peer, n)
	}
	return n
}

// tracedTaker records messages that are taken without a handler, under the endpoint's poll lock.
type tracedTaker struct {
	conduit.Taker
	w *traced
}

// Take records what was taken.
func (k tracedTaker) Take(src int, a conduit.Acceptor) bool {
	return k.Taker.Take(src, acceptor{a, k.w})
}

type acceptor struct {
	conduit.Acceptor
	w *traced
}

// Accept records a record that was accepted.
func (a acceptor) Accept(src int, rec []byte) bool {
	start := a.w.t.rec.Now()
	if !a.Acceptor.Accept(src, rec) {
		return false
	}
	e := a.w.recordArrived(src, rec)
	if l, shared := a.w.ownTrack(); shared {
		l.AddShared(e)
	} else {
		e.Start, e.End = start, a.w.t.rec.Now()
		l.Add(e)
	}
	return true
}
