package ring

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A segment is the receive space of one rank. It has a header page, then counters and a ring for each rank of the
// node (by its index there), then bulk slots for each. It holds offsets and counters only.
//
//	header    0 header, 256 bell and talking (read by senders after each commit, written rarely),
//	          512 mail summary, 1024 mail words
//	counters  0 ring head, 128 bulk taken (written by the receiver),
//	          256 bulk sent, 384 the sender's credit word (written by the sender)
//
// Words of different writers are two lines apart, because cores fetch lines in pairs.
const (
	segMagic   = 0x31676553_69636c67 // "glciSeg1", little endian
	segVersion = 1

	bellAt    = 256
	talkAt    = bellAt + 8
	summaryAt = 512
	wordsAt   = 1024

	headAt   = 0
	takenAt  = 128
	sentAt   = 256
	creditAt = 384
	dataAt   = 512
)

// segHeader opens a segment. It is written by the owner before anybody else has the segment, and only read after.
type segHeader struct {
	Magic, Version         uint64
	Owner, Ranks           uint64
	Cap, MaxRecord         uint64
	ReqLimit, Publish      uint64
	Chunk, Slots           uint64
	Scan, Tiny, Loan, Size uint64
}

// Segment is a segment's memory, seen by its owner or by a sender.
type Segment struct {
	mem []byte
	g   *Geometry
	// bell is 1 while the owner sleeps or is about to.
	bell *atomic.Uint32
	// senders has a bit for each rank that has ever sent, while the poller scans. The poller skips the other rings,
	// and their pages stay untouched.
	senders *atomic.Uint64
	mail    mail
}

// Size is the length in bytes of a segment.
func (g Geometry) Size() int {
	return pageBytes + g.Ranks*(g.pairStride()+g.bulkStride())
}

func (g *Geometry) pairStride() int { return align(dataAt+g.Cap, pageBytes) }

func (g *Geometry) bulkStride() int {
	if g.Chunk == 0 {
		return 0
	}
	return align(g.Slots*slotStride(g), pageBytes)
}

func (g *Geometry) header(owner int) segHeader {
	return segHeader{
		Magic: segMagic, Version: segVersion, Owner: uint64(owner), Ranks: uint64(g.Ranks),
		Cap: uint64(g.Cap), MaxRecord: uint64(g.MaxRecord), ReqLimit: uint64(g.ReqLimit), Publish: uint64(g.Publish),
		Chunk: uint64(g.Chunk), Slots: uint64(g.Slots), Scan: asWord(g.Scan), Tiny: asWord(g.Tiny), Loan: uint64(g.Loan),
		Size: uint64(g.Size()),
	}
}

func asWord(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// NewSegment formats zeroed memory as the segment of rank owner. mem must be g.Size() long and line-aligned.
func NewSegment(mem []byte, g Geometry, owner int) (*Segment, error) {
	s, err := layout(mem, g)
	if err == nil {
		*(*segHeader)(unsafe.Pointer(unsafe.SliceData(mem))) = s.g.header(owner)
	}
	return s, err
}

// AttachSegment checks that mem is the segment of rank owner with exactly this geometry.
func AttachSegment(mem []byte, g Geometry, owner int) (*Segment, error) {
	s, err := layout(mem, g)
	if err != nil {
		return nil, err
	}
	got, want := *(*segHeader)(unsafe.Pointer(unsafe.SliceData(mem))), s.g.header(owner)
	if got != want {
		return nil, fmt.Errorf("segment of rank %d: header %+v, want %+v", owner, got, want)
	}
	return s, nil
}

func layout(mem []byte, g Geometry) (*Segment, error) {
	if len(mem) != g.Size() {
		return nil, fmt.Errorf("segment is %d bytes long, want %d", len(mem), g.Size())
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%Line != 0 {
		return nil, fmt.Errorf("segment is not aligned to %d bytes", Line)
	}
	return &Segment{
		mem: mem, g: &g,
		bell:    (*atomic.Uint32)(unsafe.Pointer(&mem[bellAt])),
		senders: (*atomic.Uint64)(unsafe.Pointer(&mem[talkAt])),
		mail:    newMail(mem[summaryAt:summaryAt+8], mem[wordsAt:wordsAt+64*8]),
	}, nil
}

// pair is the part of a segment that belongs to one sender.
type pair struct {
	data                      []byte
	head, taken, sent, credit *atomic.Uint64
	slots                     []byte
}

func (s *Segment) pair(i int) pair {
	at := pageBytes + i*s.g.pairStride()
	m := s.mem[at : at+dataAt+s.g.Cap]
	word := func(off int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&m[off])) }
	bulk := pageBytes + s.g.Ranks*s.g.pairStride() + i*s.g.bulkStride()
	return pair{
		data: m[dataAt:], head: word(headAt), taken: word(takenAt), sent: word(sentAt), credit: word(creditAt),
		slots: s.mem[bulk : bulk+s.g.bulkStride()],
	}
}
