package shm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/comm/conduit"
)

// shared is the memory that this rank and its peers have registered. It travels as a memfd over the connections that
// the exchange has left open.
type shared struct {
	rank  int
	peers []atomic.Pointer[registered] // by rank; nil until the news is there
	lost  []atomic.Bool                // by rank: set by watchers, and by Close

	mu     sync.Mutex // guards the rest
	local  []bool     // by rank: on this node; fixed
	own    bool       // registered
	maps   []*mapping
	closed bool
}

// registered is a peer's memory, or why it could not be mapped.
type registered struct {
	mem []byte
	err error
}

// memoryWord opens the packet that carries registered memory; its size follows, in 8 bytes.
const memoryWord = "mem"

func (s *shared) init(cfg *Config) {
	s.rank, s.peers, s.local = cfg.Rank, make([]atomic.Pointer[registered], cfg.Size), make([]bool, cfg.Size)
	s.lost = make([]atomic.Bool, cfg.Size)
	for _, r := range cfg.Local {
		s.local[r] = true
	}
}

// Register implements conduit.Memory. It sends a packet to each peer of the node.
func (e *end) Register(size int64) ([]byte, error) {
	if err := checkFile(size); err != nil {
		return nil, err
	}
	s := &e.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.own {
		return nil, s.refusal()
	}
	pages := (size + int64(os.Getpagesize()) - 1) &^ int64(os.Getpagesize()-1)
	f, err := createMemory(s.rank, int(pages))
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d: memory of %d bytes: %w", s.rank, size, err)
	}
	defer func() { _ = f.Close() }() // the mappings keep the memory
	m, err := mapMemory(f, int(pages))
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d: memory of %d bytes: %w", s.rank, size, err)
	}
	s.own = true
	s.maps = append(s.maps, m)
	packet := binary.LittleEndian.AppendUint64([]byte(memoryWord), uint64(size))
	for _, c := range e.conns {
		_ = sendPacket(c, packet, f) // a peer that is gone cannot be told, and does not need it
	}
	s.peers[s.rank].Store(&registered{mem: m.mem[:size:size]})
	return m.mem[:size:size], nil
}

// refusal is called with mu held.
func (s *shared) refusal() error {
	if s.closed {
		return &conduit.PeerError{Peer: s.rank, Err: conduit.ErrClosed}
	}
	return fmt.Errorf("%w: rank %d has registered its memory already", conduit.ErrConfig, s.rank)
}

// checkFile tells whether the system lets a process have a memfd of that size.
func checkFile(size int64) error {
	if err := conduit.CheckGrant(size); err != nil {
		return err
	}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &r) == nil && r.Cur < math.MaxInt64 && size > int64(r.Cur) {
		return &conduit.GrantError{Asked: size, Granted: int64(r.Cur), Limit: "size of a file (ulimit -f)"}
	}
	return nil
}

// take maps what peer has registered. It closes f.
func (s *shared) take(peer int, packet []byte, f *os.File) {
	defer closeFiles([]*os.File{f})
	rest, ok := strings.CutPrefix(string(packet), memoryWord)
	if !ok || len(rest) != 8 || s.peers[peer].Load() != nil {
		return // of a later version, or told twice
	}
	size := binary.LittleEndian.Uint64([]byte(rest))
	s.peers[peer].Store(s.mapPeer(peer, size, f))
}

// miss notes that what peer has registered could not be taken.
func (s *shared) miss(peer int, err error) {
	s.peers[peer].CompareAndSwap(nil, &registered{err: &conduit.PeerError{
		Peer: peer, Err: conduit.ErrUnreachable, Detail: fmt.Sprintf("its memory: %v", err),
	}})
}

func (s *shared) mapPeer(peer int, size uint64, f *os.File) *registered {
	fail := func(detail string) *registered {
		return &registered{err: &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: detail}}
	}
	page := uint64(os.Getpagesize())
	if size == 0 || size > 1<<46 {
		return fail(fmt.Sprintf("it says that it has registered %d bytes", size))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fail("closed")
	}
	m, err := mapMemory(f, int((size+page-1)&^(page-1)))
	if err != nil {
		return fail(fmt.Sprintf("its memory of %d bytes: %v", size, err))
	}
	s.maps = append(s.maps, m)
	return &registered{mem: m.mem[:size:size]}
}

// Segment implements conduit.Memory.
func (e *end) Segment(peer int) ([]byte, error) {
	s := &e.shared
	if uint(peer) >= uint(len(s.peers)) || !s.local[peer] {
		return nil, &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "registered memory"}
	}
	if r := s.peers[peer].Load(); r != nil {
		return r.mem, r.err
	}
	return nil, nil
}

// close returns the mappings, which the caller then has; nothing is mapped after it.
func (s *shared) close() []*mapping {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	maps := s.maps
	s.maps = nil
	return maps
}

// Lost implements conduit.Memory.
func (e *end) Lost(peer int) *atomic.Bool {
	s := &e.shared
	if uint(peer) >= uint(len(s.lost)) || !s.local[peer] {
		return nil
	}
	return &s.lost[peer]
}
