package shm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
)

// shared is the memory that this rank and its peers have allocated. It travels as a memfd over the connections that the
// exchange has left open.
type shared struct {
	rank  int
	local []bool        // by rank: on this node; fixed
	lost  []atomic.Bool // by rank: set by watchers, and by Close

	mu     sync.Mutex // guards the rest
	peers  []allocated
	maps   []*mapping
	closed bool
	own    []ownAllocation // only with room for more ranks, who are told; guarded by rankMemory.mu
}

// ownAllocation is memory that this rank has allocated.
type ownAllocation struct {
	packet []byte
	file   *os.File
}

// allocated is what a peer has allocated, and why some of it could not be mapped.
type allocated struct {
	areas []area
	err   error
}

// area is memory of a peer, as this process has mapped it.
type area struct {
	base uint64 // its address in the peer's process
	mem  []byte
}

// memoryWord opens the packet that carries memory; its size and its address follow, in 8 bytes each.
const memoryWord = "mem"

func (s *shared) initShared(cfg *Config) {
	s.rank, s.peers, s.local = cfg.Rank, make([]allocated, cfg.Size), make([]bool, cfg.Size)
	s.lost = make([]atomic.Bool, cfg.Size)
	for _, r := range cfg.Local {
		s.local[r] = true
	}
}

// leads tells whether memory of peer can be mapped.
func (s *shared) leads(peer int) bool {
	return uint(peer) < uint(len(s.local)) && s.local[peer] && peer != s.rank
}

// Allocate implements conduit.Remote. The memory is a memfd. Allocate sends its descriptor, with size and address, to
// every peer on the node. Ranks that start later get it when they are admitted.
func (e *rankMemory) Allocate(size int64) ([]byte, error) {
	if err := checkFile(size); err != nil {
		return nil, err
	}
	s := &e.shared
	f, err := createMemory(s.rank, wholePages(size))
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d: memory of %d bytes: %w", s.rank, size, err)
	}
	mem, err := s.mapFile(f, size)
	if err != nil {
		_ = f.Close() // the first error is the one to tell
		return nil, fmt.Errorf("shm: rank %d: memory of %d bytes: %w", s.rank, size, err)
	}
	packet := binary.LittleEndian.AppendUint64([]byte(memoryWord), uint64(size))
	packet = binary.LittleEndian.AppendUint64(packet, address(mem))
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conns {
		_ = sendPacket(c, packet, f) // a peer that is gone cannot be told, and does not need it
	}
	if e.door == nil {
		_ = f.Close() // the mappings keep the memory
	} else {
		s.own = append(s.own, ownAllocation{packet, f})
	}
	return mem, nil
}

func address(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

// wholePages is how long a file for size bytes is.
func wholePages(size int64) int {
	page := int64(os.Getpagesize())
	return int((size + page - 1) &^ (page - 1))
}

// mapFile maps a memfd for size bytes.
func (s *shared) mapFile(f *os.File, size int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, conduit.ErrClosed
	}
	m, err := mapMemory(f, wholePages(size))
	if err != nil {
		return nil, err
	}
	s.maps = append(s.maps, m)
	return m.mem[:size:size], nil
}

// checkFile tells whether the system lets a process have a memfd of that size.
func checkFile(size int64) error {
	if err := conduit.CheckGrant(size); err != nil {
		return err
	}
	return checkFileLimit(size)
}

// checkFileLimit tells whether size is within the limit on file sizes. Beyond that the kernel would end the process,
// unless it is a Go program.
func checkFileLimit(size int64) error {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &r) == nil && r.Cur < math.MaxInt64 && size > int64(r.Cur) {
		return &conduit.GrantError{Asked: size, Granted: int64(r.Cur), Limit: "size of a file (ulimit -f)"}
	}
	return nil
}

// takeMemory maps what peer has allocated. It closes f.
func (s *shared) takeMemory(peer int, packet []byte, f *os.File) {
	defer closeFiles(f)
	rest, ok := strings.CutPrefix(string(packet), memoryWord)
	if !ok || len(rest) != 16 {
		return // of a later version
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64([]byte(rest[8*i:])) }
	if err := s.addMapping(peer, word(0), word(1), f); err != nil {
		s.miss(peer, err)
	}
}

// miss notes that something that peer has allocated could not be taken.
func (s *shared) miss(peer int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[peer].err = &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: fmt.Sprintf("its memory: %v", err)}
}

// addMapping maps memory of a peer that lies at an address there.
func (s *shared) addMapping(peer int, size, base uint64, f *os.File) error {
	if size == 0 || size > 1<<46 {
		return fmt.Errorf("it says that it has allocated %d bytes", size)
	}
	mem, err := s.mapFile(f, int64(size))
	if err != nil {
		return fmt.Errorf("%d bytes: %w", size, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.peers[peer]
	p.areas = append(p.areas, area{base, mem})
	return nil
}

func (e *rankMemory) Map(peer int, k conduit.Key) ([]byte, *atomic.Bool, error) {
	s := &e.shared
	if !s.leads(peer) {
		return nil, nil, &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "mapped memory"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.peers[peer].areas {
		off := int64(k.Base - a.base)
		if (conduit.Key{Size: int64(len(a.mem))}).Holds(off, int(k.Size)) {
			return a.mem[off:][:k.Size:k.Size], &s.lost[peer], nil
		}
	}
	return nil, nil, s.peers[peer].err
}

// closeShared returns the mappings, which the caller then has; nothing is mapped after it.
func (s *shared) closeShared() []*mapping {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	maps := s.maps
	s.maps = nil
	return maps
}
