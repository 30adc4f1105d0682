package ring

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
)

// Consumer reads the records of one ordered pair, and never writes to the ring. Its methods are called under the poll
// lock, except ready.
type Consumer struct {
	// Fixed.
	data []byte
	head *atomic.Uint64 // progress, written here for the producer
	g    *Geometry
	src  int

	// Written under the poll lock; off is also read by ready without it.
	off       atomic.Uint64 // where the next record starts
	taken     uint64        // bytes consumed
	published uint64        // value of head
	pass      int           // lingers to pass over
	passes    int           // how many to pass over after the next vain one
}

// isReady tells whether the next record is there. Without the poll lock the answer may be true wrongly, see
// Endpoint.Pending for why it is not false wrongly.
func (c *Consumer) isReady() bool { return c.nextWord().Load() != 0 }

// nextWord is the word in which the next record shows. A concurrent poll moves on.
func (c *Consumer) nextWord() *atomic.Uint64 { return c.wordAt(int(c.off.Load())) }

// poll delivers up to budget records. dry tells that it stopped for want of records. ok is false if the ring holds
// something impossible, and then every later call finds the same.
func (c *Consumer) poll(budget int, sink conduit.Sink) (n int, dry, ok bool) {
	off, ok := int(c.off.Load()), true
	for n < budget {
		// Acquires the record's bytes, which the producer wrote before the word.
		first := c.wordAt(off).Load()
		size := int(uint32(first))
		if size == 0 {
			if n > 0 && c.linger(off, n) {
				continue
			}
			dry = true
			break
		}
		if size&padFlag != 0 {
			if off == 0 || size&^padFlag != len(c.data)-off { // at 0 it would lead back to itself
				ok = false
				break
			}
			c.taken += uint64(len(c.data) - off)
			off = 0
			continue
		}
		// The place of the next record depends on this one's length, and so would wait for its line to cross. For the
		// commonest length a branch says the place instead, which the core predicts, so that it fetches several lines
		// at once.
		lines := Line
		if size > Line {
			lines = (size + Line - 1) &^ (Line - 1)
		}
		next := off + lines
		if size < conduit.WordBytes || size > c.g.MaxRecord || next > len(c.data) {
			ok = false
			break
		}
		if lines > Line { // its line would be wanted only after the matching, whose locks wait for loads
			arch.Prefetch(unsafe.Pointer(&c.data[off+Line]))
		}
		if next == len(c.data) {
			next = 0
		}
		sink.Record(c.src, c.data[off:off+size:off+size])
		c.taken += uint64(lines)
		off = next
		n++
		if c.taken-c.published >= uint64(c.g.Publish) {
			c.reportPlace(off)
		}
	}
	arch.StoreRel64(&c.off, uint64(off))
	if dry && c.taken != c.published {
		c.reportPlace(off)
	}
	return n, dry, ok
}

// lingerPauses is how long a consumer in a flood stands back, in pauses. While standing back finds nothing,
// lingerEvery batches pass without it.
const (
	lingerPauses = 5
	lingerEvery  = 255
)

// linger waits a little at an empty line, after n records, and tells whether another came meanwhile.
//
// A consumer that keeps up with a flood reads each line just when the producer wants it, and both pay for every
// record. A consumer that stands back for a moment finds several records at once. Where nothing comes, as between
// question and answer, it is tried ever less often. One record after another proves no flood: between two ranks that
// exchange messages it is the next turn. Standing back would delay the waiter for the first record.
func (c *Consumer) linger(off, n int) bool {
	if c.pass > 0 {
		c.pass--
		return false
	}
	for range lingerPauses {
		arch.Pause()
	}
	if c.wordAt(off).Load() != 0 {
		if n > 1 {
			c.passes = 0
		}
		return true
	}
	c.passes = min(2*c.passes+1, lingerEvery)
	c.pass = c.passes
	return false
}

// reportPlace tells the producer what may be overwritten. The place goes first, so that whoever sees the ring reused
// sees the place moved on as well.
func (c *Consumer) reportPlace(off int) {
	arch.StoreRel64(&c.off, uint64(off))
	c.published = c.taken
	arch.StoreRel64(c.head, c.taken)
}

func (c *Consumer) wordAt(off int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&c.data[off]))
}
