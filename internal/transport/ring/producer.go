package ring

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/transport/selection"
)

// padFlag in the low half of a first word marks the unused end of the ring before a wrap. The rest of that half is
// the length of the pad.
const padFlag = 1 << 31

// Producer writes the records of one ordered pair. Its methods are called under the lock that the caller of Reserve
// holds per peer.
type Producer struct {
	// Fixed.
	data []byte
	head *atomic.Uint64 // bytes consumed, written by the consumer; seen here late, never early
	g    *Geometry
	// inUse is how many bytes may be in use with a record that inject adds; negative: it serves none.
	inUse    int
	injected int // the most data of such a record, in bytes

	// Owned by the caller of Reserve.
	tail     uint64 // bytes published
	off      int    // tail's place in data
	seen     uint64 // last value taken from head
	open     int    // whole lines reserved, 0 without a reservation
	skip     int    // pad before the reservation
	clean    uint64 // lines from tail up to here begin with zero
	recent   int    // length of the last long record, or part of that of a longer one before; 0 among short ones
	low      int    // where fewer bytes than this are clean ahead of the tail, more is cleaned; follows recent
	flow     flow   // of long records
	replyEnd uint64 // tail after the last record of a reserved class, for TinyQueues
	reserved bool   // the open reservation is of a reserved class
	corrupt  bool   // the consumer reported something impossible
}

func newProducer(data []byte, head *atomic.Uint64, g *Geometry) Producer {
	p := Producer{data: data, head: head, g: g, inUse: -1, low: cleanLow, flow: flow{picker: selection.New(streamWays)}}
	if g.Scan && !g.Tiny {
		p.inUse, p.injected = min(g.ReqLimit, len(data)-Line), min(conduit.InjectBytes, g.MaxRecord-injectHeader)
	}
	return p
}

// reserveBytes returns space for n bytes; nil without room.
func (p *Producer) reserveBytes(class conduit.Class, n int) []byte {
	need := (n + Line - 1) &^ (Line - 1)
	off, skip := p.off, 0
	if off+need > len(p.data) {
		off, skip = 0, len(p.data)-off
	}
	if !p.fitsClass(class, skip+need) {
		if !p.refresh() || !p.fitsClass(class, skip+need) {
			return nil
		}
	}
	if p.open > Line { // lines that a reservation never committed has written to
		p.clean = p.tail + Line
	}
	p.open, p.skip, p.reserved = need, skip, class != conduit.Request
	end := off + (n+7)&^7
	return p.data[off:end:end]
}

// fitsClass tells whether need bytes may be taken for class, as far as seen tells. A line is always left free: it is
// where publish puts the end mark.
func (p *Producer) fitsClass(class conduit.Class, need int) bool {
	used := int(p.tail - p.seen)
	switch {
	case used+need > len(p.data)-Line:
		return false
	case p.g.Tiny:
		return p.fitsTiny(class, used, need)
	case class == conduit.Request:
		return used+need <= p.g.ReqLimit
	}
	return true
}

func (p *Producer) fitsTiny(class conduit.Class, used, need int) bool {
	if class == conduit.Request {
		return used == 0 || used+need <= p.g.ReqLimit
	}
	return used+need <= p.g.ReqLimit || int64(p.seen-p.replyEnd) >= 0
}

// publishOpen makes the open reservation visible, with first as its first word. strong makes the publication a full
// fence, for senders that look at shared words afterwards.
//
// The consumer stops at a zero first word, so the word after the record is cleared before the record appears. That
// word lies in the line that fits keeps free. The consumer does not read it before it has seen this record. As a rule
// cleanAhead has done so already.
func (p *Producer) publishOpen(first uint64, strong bool) {
	need := (int(uint32(first)) + Line - 1) &^ (Line - 1)
	if uint(need-1) >= uint(p.open) { // longer than the reservation, or nothing
		return
	}
	off := p.off
	if p.skip > 0 {
		off = 0
	}
	next := off + need
	if next == len(p.data) {
		next = 0
	}
	tail := p.tail + uint64(p.skip+need)
	if p.open > need || int64(p.clean-tail) < Line {
		// Not cleaned ahead, or written on by a caller that then needed less.
		arch.StoreRel64(p.wordAt(next), 0)
		p.clean = tail + Line
	}
	if strong {
		p.wordAt(off).Store(first)
	} else {
		arch.StoreRel64(p.wordAt(off), first)
	}
	if p.skip > 0 {
		// The record at 0 is complete, so the pad that leads to it comes last.
		p.wordAt(p.off).Store(padFlag | uint64(p.skip))
	}
	p.tail, p.off, p.open, p.skip = tail, next, 0, 0
	if need > cleanHigh || p.recent != 0 {
		p.followNeed(need)
	}
	if p.reserved {
		p.replyEnd = p.tail
	}
}

// cleanLow and cleanHigh are how many lines beyond the tail are kept clean, where records are not longer. cleanMost
// is the longest record that counts: the core's nearest caches hold no more.
const (
	cleanLow  = 16 * Line
	cleanHigh = 32 * Line
	cleanMost = 512 * Line
)

// followNeed adapts the room that is cleaned ahead to records as long as the last one, of need bytes. Where string
// moves write them nothing is cleaned: a store to each line would fetch it from the consumer's core, and these would
// gain nothing.
func (p *Producer) followNeed(need int) {
	p.recent = min(max(need, p.recent/2), cleanMost)
	p.low = p.recent + Line
	switch {
	case p.recent <= cleanHigh:
		p.recent, p.low = 0, cleanLow
	case p.flow.strings():
		p.low = 0
	}
}

// dirty tells whether cleanAhead has something to do.
func (p *Producer) dirty() bool { return int(p.clean-p.tail) < p.low }

// cleanAhead clears the first words of lines that are to come. It is called after a publication has been announced.
// Fetching the lines, which the consumer read a round ago, then delays no record. Several lines are fetched at once.
// After a long record it cleans room for another one of that length, so that the next copy finds its lines in this
// core.
func (p *Producer) cleanAhead() {
	ahead, high := int(p.clean-p.tail), cleanHigh
	if p.recent != 0 {
		high = p.recent + cleanLow
	}
	free := len(p.data) - int(p.tail-p.seen)
	off := p.off + ahead
	for end := min(high, free); ahead < end; ahead += Line {
		if off >= len(p.data) {
			off -= len(p.data)
		}
		arch.StoreRel64(p.wordAt(off), 0)
		off += Line
	}
	p.clean = p.tail + uint64(ahead)
}

// refresh takes the consumer's progress. It returns false if that is impossible: back, or beyond what was published.
// The load acquires the consumer's last look at what may now be overwritten.
func (p *Producer) refresh() bool {
	head := p.head.Load()
	if head-p.seen > p.tail-p.seen {
		p.corrupt = true
		return false
	}
	p.seen = head
	return true
}

func (p *Producer) wordAt(off int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&p.data[off]))
}
