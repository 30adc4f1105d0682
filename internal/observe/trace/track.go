package trace

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/spin"
)

const chunkRecords = 1024

// chunk is a piece of a track in memory. The track's owner fills records and publishes them by n. The recorder's writer
// reads those below n, and owns written.
type chunk struct {
	n       atomic.Uint32
	written uint32
	track   *Track
	records [chunkRecords]Record
}

// Track is one track of a rank's timeline. Add is called by one writer at a time, whom the track's maker names: it owns
// the fields that are not atomic. AddShared may be called by anyone, but not beside Add.
type Track struct {
	r    *Recorder
	id   uint32
	name string

	fill *chunk // being filled; nil before the first record, and where there is no memory
	used uint32 // records in it

	lock    spin.Lock             // of AddShared
	current atomic.Pointer[chunk] // fill, for the recorder's writer
	dropped atomic.Uint64         // records; written by the owner
}

// Add appends a record, unless the recorder's memory or file is full: then it is counted. It does not block or
// allocate, but for a chunk of memory in 1024 records.
func (l *Track) Add(e Record) {
	if l == nil {
		return
	}
	if l.used == chunkRecords || l.fill == nil {
		if !l.nextChunk() {
			return
		}
	}
	l.fill.records[l.used] = e
	l.used++
	arch.StoreRel32(&l.fill.n, l.used)
}

// AddShared is Add for a track that several goroutines use. It sets the times of all records of a call to the moment
// of the call, except for Spans. So slices get the shortest length, and never overlap. A Flow that stands alone has
// the same time as the slice before it in the call, so its arrow joins that slice.
func (l *Track) AddShared(all ...Record) {
	if l == nil {
		return
	}
	l.lock.Lock()
	now := l.r.Now()
	for i := range all {
		e := all[i]
		if e.Kind&^flows != Span {
			e.Start, e.End = now, now
		}
		l.Add(e)
	}
	l.lock.Unlock()
}

// Now is Recorder.Now.
func (l *Track) Now() uint64 {
	if l == nil {
		return 0
	}
	return l.r.Now()
}

// nextChunk gives the full chunk to the recorder and takes an empty one. If there is none it counts a record that is
// dropped.
func (l *Track) nextChunk() bool {
	l.current.Store(nil) // the recorder may give the chunk to another track
	c := l.r.exchangeChunk(l, l.fill)
	l.fill, l.used = c, 0
	if c == nil {
		arch.StoreRel64(&l.dropped, l.dropped.Load()+1)
		return false
	}
	l.current.Store(c)
	return true
}
