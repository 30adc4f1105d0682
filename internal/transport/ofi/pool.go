//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"unsafe"

	"github.com/golci/golci/internal/platform/fi"
)

// pool is the receive space: buffers that the library fills with messages of all peers. More are made when what has
// come is not delivered as fast, so memory grows with what peers may have under way, not with their number. Under mu.
type pool struct {
	c      *Conduit
	length int       // bytes of a buffer
	want   int       // buffers that the library should have
	posted int       // that it has
	spare  []*buffer // that nobody has
}

// buffer is memory for messages.
type buffer struct {
	slot    *slot // its context
	mem     []byte
	desc    uintptr
	refs    int  // entries that lie in it
	outside bool // the library has it
}

const (
	multiBytes = 256 << 10 // of a buffer for several messages, at least
	multiCount = 3
	ringCount  = 64 // buffers for one message each
)

// openPool posts the first buffers. Providers without buffers for several messages get a ring of small ones.
func (p *pool) openPool(c *Conduit) error {
	p.c, p.length, p.want = c, (c.geo.longest()+63)&^63, ringCount
	if c.info.MultiRecv {
		p.length, p.want = max(multiBytes, 4*p.length), multiCount
	}
	for range p.want {
		b, err := p.make()
		if err != nil {
			return err
		}
		p.spare = append(p.spare, b)
	}
	if code := p.fillPool(); code != 0 {
		return fi.Code(c.ep, "posting a receive", code)
	}
	return nil
}

func (p *pool) make() (*buffer, error) {
	mem, desc, err := p.c.slab.knownBytes(p.length)
	if err != nil {
		return nil, err
	}
	b := &buffer{slot: p.c.slab.takeSlot(0), mem: mem, desc: desc}
	if b.slot == nil {
		return nil, errNoMemory
	}
	b.slot.use, b.slot.buf = receiving, b
	return b, nil
}

// fillPool gives the library buffers until it has as many as it should. It returns the code of what failed; a later
// call tries again.
func (p *pool) fillPool() int {
	for p.posted < p.want {
		if len(p.spare) == 0 {
			b, err := p.make()
			if err != nil {
				return 0 // memory comes back with what is delivered
			}
			p.spare = append(p.spare, b)
		}
		b := p.spare[len(p.spare)-1]
		if code := p.c.ep.Post(addressOf(b.mem), len(b.mem), b.desc, b.slot.base()); code != 0 {
			return code
		}
		p.spare = p.spare[:len(p.spare)-1]
		b.outside = true
		p.posted++
	}
	return 0
}

// findMessage gives the bytes of a message that has come into a buffer; false if they are not in it.
func (b *buffer) findMessage(k *fi.Completion, multi bool) ([]byte, bool) {
	at := uintptr(0)
	if multi {
		at = k.Buf - addressOf(b.mem)
	}
	if at > uintptr(len(b.mem)) || k.Len > uintptr(len(b.mem))-at {
		return nil, false
	}
	return b.mem[at : at+k.Len : at+k.Len], true
}

// returned notes that the library is done with a buffer.
func (p *pool) returned(b *buffer) {
	if b.outside {
		b.outside = false
		p.posted--
		p.releaseUses(b, 0)
	}
}

// releaseUses ends n uses of a buffer.
func (p *pool) releaseUses(b *buffer, n int) {
	if b.refs -= n; b.refs == 0 && !b.outside {
		p.spare = append(p.spare, b)
	}
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
