package ring

import (
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/transport/selection"
)

var _ conduit.Streamer = (*Endpoint)(nil)

// Ways to write the records of a stream. Which is quick depends on the processor, and on how far away the reader's core
// is. In some states one gives twice the bytes a second of the other, in others little
// more than half.
const (
	byCopy    = iota // lines are fetched ahead by cleanAhead, and written by copy
	byStrings        // nothing touches the lines ahead, and arch.CopyOut takes them whole
	streamWays
)

// runLength is how many long records of a stream show what a way costs.
const runLength = 32

// flow tells a stream of long records from question and answer, and picks the way to write those of a stream. It looks
// at what has come from the peer since the last long record. Its owner is the holder of the caller's lock for Reserve.
//
// One answer between two records ends no stream: a receiver that acknowledges a window of messages answers once in a
// while. Two in a row do.
type flow struct {
	stream bool
	asked  bool   // the last long record followed an answer
	place  uint64 // in the ring from the peer, when the last long record was begun

	picker  selection.Picker
	way     int    // of the run
	records int    // of the run so far
	bytes   int    // of these
	begun   uint64 // when the first of them was begun, in ticks
}

// noteRecord notes a record of n bytes that is begun now. place is where the peer's next record is expected.
func (f *flow) noteRecord(place, now uint64, n int) {
	answered := place != f.place
	switch {
	case !answered && !f.stream:
		f.stream = true
		f.beginRun(now)
	case answered && f.asked:
		f.stream = false
	}
	f.asked, f.place = answered, place
	if !f.stream {
		return
	}
	if f.records == runLength {
		f.picker.Note(f.way, float64(now-f.begun)/float64(f.bytes))
		f.beginRun(now)
	}
	f.records++
	f.bytes += n
}

// beginRun begins a run.
func (f *flow) beginRun(now uint64) {
	f.way = f.picker.Pick()
	f.records, f.bytes, f.begun = 0, 0, now
}

// strings tells that the next long record is written by string moves.
func (f *flow) strings() bool { return f.stream && f.way == byStrings }

// Streams implements conduit.Streamer.
func (e *Endpoint) Streams(peer, n int) bool {
	o := e.to(peer)
	if o == nil {
		return false
	}
	f := &o.prod.flow
	f.noteRecord(e.from[peer].rec.off.Load(), arch.Ticks(), n)
	return f.strings()
}
