// Package trace wraps a conduit and writes a line for each thing that passes through it. A line is
//
//	microseconds rank event peer details
//
// with the time since New. The events are send, refused, recv, bulk (sent), chunk (received), sleep, awake, wake,
// failed and close. A send is written before the record can be seen, so in a common writer it precedes the recv.
package trace

import (
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/spin"
)

// Conduit traces. Its methods are those of the conduit inside, but may block in the writer.
type Conduit struct {
	conduit.Conduit
	start time.Time
	open  []sending // by peer

	poll spin.Lock
	sink conduit.Sink // of the Poll under way; under poll

	mu   sync.Mutex
	w    io.Writer
	line []byte // under mu
	err  error  // of w, the first; under mu
}

// sending is what Reserve leaves for Commit, under the caller's lock for them.
type sending struct {
	class conduit.Class
	open  bool
}

// New wraps c. Lines are written to w one Write each, under a lock of this wrapper; a w shared by several wrappers must
// take concurrent writes. After an error nothing more is written, and Close returns the error.
func New(c conduit.Conduit, w io.Writer) *Conduit {
	return &Conduit{Conduit: c, start: time.Now(), open: make([]sending, c.Size()), w: w}
}

// log writes one line; peer -1 is left out.
func (c *Conduit) log(event string, peer int, details ...field) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	b := strconv.AppendInt(c.line[:0], time.Since(c.start).Microseconds(), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(c.Rank()), 10)
	b = append(append(b, ' '), event...)
	if peer >= 0 {
		b = strconv.AppendInt(append(b, ' '), int64(peer), 10)
	}
	for _, d := range details {
		b = append(append(b, ' '), d.name...)
		if d.value >= 0 {
			b = strconv.AppendInt(append(b, '='), d.value, 10)
		}
	}
	c.line = append(b, '\n')
	_, c.err = c.w.Write(c.line)
}

// field is a detail of a line; a negative value is left out.
type field struct {
	name  string
	value int64
}

// Reserve implements conduit.Conduit.
func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	space, st := c.Conduit.Reserve(peer, class, n)
	if st != conduit.OK {
		c.log("refused", peer, field{st.String(), -1}, field{class.String(), -1}, field{"bytes", int64(n)})
	} else if peer < len(c.open) {
		c.open[peer] = sending{class: class, open: true}
	}
	return space, st
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(peer int, first uint64) {
	if uint(peer) < uint(len(c.open)) && c.open[peer].open {
		c.open[peer].open = false
		c.log("send", peer, field{c.open[peer].class.String(), -1}, field{"bytes", int64(uint32(first))},
			field{"word", int64(first >> 32)})
	}
	c.Conduit.Commit(peer, first)
}

// BulkSend implements conduit.Conduit.
func (c *Conduit) BulkSend(peer int, id uint64, off int64, data []byte) int {
	n := c.Conduit.BulkSend(peer, id, off, data)
	c.log("bulk", peer, field{"id", int64(id)}, field{"off", off}, field{"bytes", int64(len(data))}, field{"took", int64(n)})
	return n
}

// Poll implements conduit.Conduit.
func (c *Conduit) Poll(budget int, sink conduit.Sink) int {
	if !c.poll.TryLock() {
		return -1
	}
	c.sink = sink
	n := c.Conduit.Poll(budget, (*tracing)(c))
	c.sink = nil
	c.poll.Unlock()
	return n
}

// tracing is the sink between the conduit inside and the caller's.
type tracing Conduit

// Record implements conduit.Sink.
func (t *tracing) Record(src int, rec []byte) {
	(*Conduit)(t).log("recv", src, field{"bytes", int64(len(rec))})
	t.sink.Record(src, rec)
}

// Bulk implements conduit.Sink.
func (t *tracing) Bulk(src int, id uint64, off int64, chunk []byte) {
	(*Conduit)(t).log("chunk", src, field{"id", int64(id)}, field{"off", off}, field{"bytes", int64(len(chunk))})
	t.sink.Bulk(src, id, off, chunk)
}

// Sleep implements conduit.Conduit.
func (c *Conduit) Sleep(d time.Duration, ready func() bool) bool {
	c.log("sleep", -1, field{"ns", int64(max(d, 0))})
	ok := c.Conduit.Sleep(d, ready)
	if ok {
		c.log("awake", -1)
	}
	return ok
}

// Wake implements conduit.Conduit.
func (c *Conduit) Wake() {
	c.log("wake", -1)
	c.Conduit.Wake()
}

// Failed implements conduit.Conduit.
func (c *Conduit) Failed(peer int) error {
	err := c.Conduit.Failed(peer)
	if err != nil {
		c.log("failed", peer, field{err.Error(), -1})
	}
	return err
}

// Close implements conduit.Conduit. It also returns the writer's error, if there was one.
func (c *Conduit) Close() error {
	err := c.Conduit.Close()
	c.log("close", -1)
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(err, c.err)
}
