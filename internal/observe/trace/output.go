package trace

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// writeEvery is how often what has not filled a chunk is written, so that a rank that dies leaves it.
const writeEvery = 200 * time.Millisecond

// output is the part file and how far it has got. The goroutine of runRecorder owns it, once it runs, but for zero.
type output struct {
	r     *Recorder
	file  *os.File
	head  header
	buf   []byte // of one write
	size  int64  // of the file
	limit int64

	zero    *int64 // guarded by r.mu
	zeroed  bool   // zero is in the file
	tracks  int    // in the file
	names   int    // likewise, the zero Name included
	dropped map[uint32]uint64
	err     error
}

// runRecorder is the goroutine of the recorder.
func (r *Recorder) runRecorder() {
	defer close(r.ended)
	o := &r.out
	t := time.NewTicker(writeEvery)
	defer t.Stop()
	for {
		select {
		case <-r.news:
			o.writeFilled()
		case <-t.C:
			o.writeFilled()
			o.writeRest()
		case <-r.stop:
			r.full.Store(true)
			o.endOutput()
			return
		}
	}
}

// beginOutput writes the front of the part file: the mark, the header, and a first look at the clocks. It is called
// before any record is made. Where no rank has called SetZero, the earliest of these looks is time 0 of the timeline.
func (o *output) beginOutput() {
	o.names, o.dropped = 1, map[uint32]uint64{}
	o.buf = append(o.buf, partMark...)
	o.writeJSON(blockHead, 0, &o.head)
	o.noteClock(o.r.lookAtClocks())
	o.flushOutput()
}

// endOutput writes what is left. The last lines are written even beyond the limit.
func (o *output) endOutput() {
	o.writeFilled()
	o.writeRest()
	for _, l := range o.trackList() {
		if n := l.dropped.Load() + o.dropped[l.id]; n > 0 {
			o.writeJSON(blockDropped, l.id, n)
		}
	}
	o.writeBlock(blockEnd, 0, nil)
	o.flushOutput()
	if err := o.file.Close(); err != nil {
		o.failOutput(err)
	}
}

func (o *output) trackList() []*Track {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	return o.r.tracks
}

// writeFilled writes the chunks that are full, and frees them.
func (o *output) writeFilled() {
	r := o.r
	for {
		r.mu.Lock()
		filled := r.filled
		r.filled = nil
		r.mu.Unlock()
		if len(filled) == 0 {
			return
		}
		for _, c := range filled {
			o.writeChunk(c)
			r.mu.Lock()
			r.free = append(r.free, c)
			r.lack.Store(false)
			r.mu.Unlock()
		}
	}
}

// writeRest writes what is in chunks that are being filled, and a look at the clocks.
func (o *output) writeRest() {
	for _, l := range o.trackList() {
		if c := o.currentChunk(l); c != nil {
			o.writeChunk(c)
		}
	}
	o.writeDefined()
	o.noteClock(o.r.lookAtClocks())
	o.flushOutput()
}

// currentChunk is the chunk that l fills, nil for none. All chunks that l filled before it are in the file: the records
// of a track are in order there. Only o frees chunks, so the chunk is still l's when o writes it.
func (o *output) currentChunk(l *Track) *chunk {
	for {
		o.r.mu.Lock()
		c := l.current.Load()
		behind := slices.ContainsFunc(o.r.filled, func(f *chunk) bool { return f.track == l })
		o.r.mu.Unlock()
		if !behind {
			return c
		}
		o.writeFilled()
	}
}

// writeChunk writes the records of c that have been published and not written.
func (o *output) writeChunk(c *chunk) {
	n := c.n.Load()
	if n == c.written {
		return
	}
	fresh := c.records[c.written:n]
	c.written = n
	o.writeDefined()
	if o.err != nil || o.size+int64(len(o.buf)+len(fresh)*recordBytes) > o.limit {
		o.r.full.Store(true)
		o.dropped[c.track.id] += uint64(len(fresh))
		return
	}
	at := o.openBlock(blockRecords, c.track.id)
	for i := range fresh {
		o.buf = fresh[i].appendTo(o.buf)
	}
	o.shutBlock(at)
	o.flushOutput()
}

// writeDefined writes what records refer to: it is called when they have been published.
func (o *output) writeDefined() {
	r := o.r
	r.mu.Lock()
	lanes, names, notes, zero := r.tracks[o.tracks:], r.names[o.names:], r.notes, o.zero
	r.notes = nil
	r.mu.Unlock()
	if zero != nil && !o.zeroed {
		o.zeroed = true
		o.writeJSON(blockZero, 0, *zero)
	}
	for _, l := range lanes {
		o.writeBlock(blockTrack, l.id, []byte(l.name))
	}
	for i := range names {
		o.writeJSON(blockName, uint32(o.names+i), &names[i])
	}
	o.tracks, o.names = o.tracks+len(lanes), o.names+len(names)
	for _, n := range notes {
		o.noteClock(n)
	}
}

func (o *output) noteClock(n note) { o.writeJSON(blockNote, 0, n) }

func (o *output) writeJSON(k block, number uint32, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		o.failOutput(err)
		return
	}
	o.writeBlock(k, number, b)
}

func (o *output) writeBlock(k block, number uint32, b []byte) {
	at := o.openBlock(k, number)
	o.buf = append(o.buf, b...)
	o.shutBlock(at)
}

// openBlock begins a block, whose length shutBlock fills in.
func (o *output) openBlock(k block, number uint32) (at int) {
	le := binary.LittleEndian
	at = len(o.buf)
	o.buf = le.AppendUint32(le.AppendUint32(o.buf, uint32(k)), number)
	o.buf = le.AppendUint64(o.buf, 0)
	return at
}

func (o *output) shutBlock(at int) {
	binary.LittleEndian.PutUint64(o.buf[at+8:], uint64(len(o.buf)-at-blockFront))
}

func (o *output) flushOutput() {
	if o.err == nil {
		n, err := o.file.Write(o.buf)
		o.size += int64(n)
		if err != nil {
			o.failOutput(err)
		}
	}
	o.buf = o.buf[:0]
}

// failOutput ends the recording; the first error is told.
func (o *output) failOutput(err error) {
	o.r.full.Store(true)
	if o.err == nil && o.r.tell != nil {
		o.r.tell(fmt.Errorf("the timeline ends: %w", err))
	}
	if o.err == nil {
		o.err = err
	}
}
