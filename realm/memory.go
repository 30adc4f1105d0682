package realm

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/realm/internal/fault"
)

// ErrMemory: a memory has no room for an instance.
var ErrMemory = fault.ErrMemory

// MemoryKind says what a memory is.
type MemoryKind uint8

// Kinds of memories.
const (
	System     MemoryKind = iota // memory of the process, up to Config.Memory
	Registered                   // the segment of Config.Segment, which ranks of the node reach directly
	GPU                          // of a device; no rank has one yet
	memoryKinds
)

// String names the kind.
func (k MemoryKind) String() string {
	if k >= memoryKinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{"system", "registered", "GPU"}[k]
}

// Memory names a memory of the job. It is a number that may be compared, stored and sent.
type Memory uint64

func makeMemory(rank int, kind MemoryKind) Memory { return 1<<63 | Memory(rank)<<32 | Memory(kind)<<24 }

// possible tells whether m is a number that makeMemory returns.
func (m Memory) possible() bool { return m>>48 == 1<<15 && m.Kind() < memoryKinds && m&(1<<24-1) == 0 }

// Rank is the rank that the memory belongs to.
func (m Memory) Rank() int { return int(m >> 32 & 0xFFFF) }

// Kind is its kind.
func (m Memory) Kind() MemoryKind { return MemoryKind(m >> 24) }

// String names kind and rank.
func (m Memory) String() string { return fmt.Sprintf("%v memory of rank %d", m.Kind(), m.Rank()) }

// Memory is the memory of that kind of this rank.
func (rt *Runtime) Memory(kind MemoryKind) Memory { return makeMemory(rt.ev.Self, kind) }

// defaultMemory is the capacity of the system memory in bytes.
const defaultMemory = 8 << 30

// store is a memory of this rank.
type store struct {
	mu  sync.Mutex // guards a; nothing is taken under it
	a   *allocator
	mem []byte // of the segment; nil: of the process
}

// makeMemories makes the memories of this rank.
func (rt *Runtime) makeMemories(cfg Config) error {
	if cfg.Memory == 0 {
		cfg.Memory = defaultMemory
	}
	if cfg.Memory < 0 || cfg.Segment < 0 {
		return rt.ev.CallErrorf("New", "%w: memory of %d bytes, segment of %d", ErrArgument, cfg.Memory, cfg.Segment)
	}
	rt.data.stores[System] = &store{a: newAllocator(cfg.Memory)}
	if cfg.Segment == 0 {
		return nil
	}
	m, err := rma.New(rt.ev.Endpoint, rma.Config{SegmentSize: cfg.Segment})
	if err != nil {
		return rt.ev.CallErrorf("New", "%w", err)
	}
	rt.data.rma = m
	rt.data.stores[Registered] = &store{a: newAllocator(int64(len(m.Segment()))), mem: m.Segment()}
	return nil
}

// MemoryUse is the capacity of a memory of this rank in bytes, and how many of them instances have. Both are 0 for a
// memory that does not exist.
func (rt *Runtime) MemoryUse(m Memory) (capacity, used int64) {
	s := rt.storeOf(m)
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.a.size, s.a.used
}

// storeOf is a memory of this rank; nil if there is none.
func (rt *Runtime) storeOf(m Memory) *store {
	if !m.possible() || m.Rank() != rt.ev.Self {
		return nil
	}
	return rt.data.stores[m.Kind()]
}

// instanceAlign is where instances begin: at lines of the cache.
const instanceAlign = 64

// takeBytes allocates bytes, which are zero.
func (s *store) takeBytes(size, align int64) (mem []byte, off int64, err error) {
	s.mu.Lock()
	off, ok := s.a.allocate(size, max(align, instanceAlign))
	if !ok {
		err = fmt.Errorf("%w: %d bytes; %d of %d are used, the largest free part has %d",
			ErrMemory, size, s.a.used, s.a.size, s.a.largest())
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, 0, err
	case s.mem != nil:
		mem = s.mem[off:][:size:size]
		clear(mem)
		return mem, off, nil
	}
	return alignedBytes(size), off, nil
}

// alignedBytes is memory of the process, which is zero and begins at a cache line.
func alignedBytes(size int64) []byte {
	words := make([]uint64, (size+7)/8+8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(words))) & 63 // elements are aligned to 8; lines of the cache help
	return mem[skip:][:size:size]
}

func (s *store) giveBytes(off, size int64) {
	s.mu.Lock()
	s.a.giveBack(off, size)
	s.mu.Unlock()
}
