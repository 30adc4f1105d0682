package udp

import "encoding/binary"

// inbox is what came from one peer while nobody took it: a ring of bytes that grows as far as the peer's window lets it. Under poll.
type inbox struct {
	buf        []byte // its length is a power of two
	head, tail uint64
}

// Each entry: length and kind, number and offset of bulk, data, rounded up to 8 bytes. It does not wrap.
const inboxHeader = 24

const (
	inboxBulk = 1 << 31
	inboxPad  = 1 << 30
	leastBox  = 4096
)

func (b *inbox) empty() bool { return b.head == b.tail }

func (b *inbox) push(a *arrival) {
	need := uint64(inboxHeader + (len(a.data)+7)&^7)
	for !b.fits(need) {
		b.grow(need)
	}
	size := uint64(len(b.buf))
	if i := b.head & (size - 1); size-i < need {
		binary.LittleEndian.PutUint32(b.buf[i:], inboxPad)
		b.head += size - i
	}
	e := b.buf[b.head&(size-1):]
	h := uint32(len(a.data))
	if a.bulk {
		h |= inboxBulk
	}
	binary.LittleEndian.PutUint32(e, h)
	binary.LittleEndian.PutUint64(e[8:], a.id)
	binary.LittleEndian.PutUint64(e[16:], uint64(a.off))
	copy(e[inboxHeader:], a.data)
	b.head += need
}

func (b *inbox) fits(need uint64) bool {
	size := uint64(len(b.buf))
	if size == 0 {
		return false
	}
	if end := size - b.head&(size-1); end < need {
		need += end
	}
	return b.head+need-b.tail <= size
}

// grow doubles the ring.
func (b *inbox) grow(need uint64) {
	size := max(2*uint64(len(b.buf)), leastBox)
	for size < 2*need {
		size *= 2
	}
	bigger := inbox{buf: make([]byte, size)}
	var a arrival
	for b.pop(&a) {
		bigger.push(&a)
	}
	*b = bigger
}

// pop takes the oldest entry out; its data stay until the next push.
func (b *inbox) pop(a *arrival) bool {
	for b.head != b.tail {
		size := uint64(len(b.buf))
		i := b.tail & (size - 1)
		e := b.buf[i:]
		h := binary.LittleEndian.Uint32(e)
		if h == inboxPad {
			b.tail += size - i
			continue
		}
		n := int(h &^ inboxBulk)
		a.bulk = h&inboxBulk != 0
		a.id = binary.LittleEndian.Uint64(e[8:])
		a.off = int64(binary.LittleEndian.Uint64(e[16:]))
		a.data = e[inboxHeader : inboxHeader+n : inboxHeader+n]
		b.tail += uint64(inboxHeader + (n+7)&^7)
		return true
	}
	return false
}

// ring32 is a queue of peers, each in it once at most, so it never holds more than there are.
type ring32 struct {
	buf     []int32
	head, n int
}

func (r *ring32) push(v int32) {
	if r.n == len(r.buf) {
		bigger := make([]int32, max(2*len(r.buf), 16))
		for i := range r.n {
			bigger[i] = r.buf[(r.head+i)%len(r.buf)]
		}
		r.buf, r.head = bigger, 0
	}
	r.buf[(r.head+r.n)%len(r.buf)] = v
	r.n++
}

func (r *ring32) pop() int32 {
	v := r.buf[r.head]
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return v
}
