package rma

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golci/golci/fult"
)

// target is what this rank knows of a peer's memory; fixed.
type target struct {
	rank     int
	size     int64
	mem      []byte // the segment, nil if it is reached by active messages
	counters []byte // the counters, behind it
	lost     *atomic.Bool
}

// direct gives the bytes of peer's segment that are to be read or written, or nil if that needs care: they do not
// exist, or are not reached directly, or not yet, or the peer has failed. It is the fast path of everything.
func (m *Memory) direct(peer int, off int64, n int) []byte {
	if uint(peer) >= uint(len(m.peers)) {
		return nil
	}
	t := m.peers[peer].Load()
	if t == nil || uint64(off) > uint64(len(t.mem)) || uint64(n) > uint64(len(t.mem))-uint64(off) || t.lost.Load() {
		return nil
	}
	return t.mem[off:][:n:n]
}

// check finds the target of an access and checks its bounds. It may block, see target.
func (m *Memory) check(peer int, off int64, n int) (*target, error) {
	t, err := m.target(peer)
	if err != nil {
		return nil, err
	}
	if off < 0 || n < 0 || off > t.size || int64(n) > t.size-off {
		return nil, boundsError(t, off, n)
	}
	if m.e.PeerFailed(peer) != nil {
		return nil, m.peerError(peer)
	}
	return t, nil
}

// target asks peer, the first time, for the size of its segment, and waits for the answer.
func (m *Memory) target(peer int) (*target, error) {
	if uint(peer) >= uint(len(m.peers)) {
		return nil, m.rankError(peer)
	}
	if m.closed.Load() {
		return nil, fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	}
	if t := m.peers[peer].Load(); t != nil {
		return t, nil
	}
	return m.attach(peer)
}

func (m *Memory) attach(peer int) (*target, error) {
	o, err := m.ops.get(peer, 1)
	if err != nil {
		return nil, err
	}
	o.send = sending{h: hHello}
	m.expect(o)
	if err := m.launch(o, false); err != nil {
		return nil, err
	}
	m.prog.Wait(&o.done)
	flags := o.more
	size, err := o.take()
	if err != nil {
		return nil, err
	}
	t := &target{rank: peer, size: int64(size), lost: new(atomic.Bool)}
	if t.size <= 0 || t.size > maxSegment || flags>>1 != uint64(m.counters) {
		return nil, fmt.Errorf("%w: rank %d has a segment of %d bytes and %d counters, rank %d has %d counters", ErrConfig,
			peer, t.size, flags>>1, m.rank, m.counters)
	}
	if flags&1 != 0 && m.shared != nil {
		m.share(t)
	}
	if !m.peers[peer].CompareAndSwap(nil, t) {
		t = m.peers[peer].Load()
	}
	if m.closed.Load() {
		m.forget()
		return nil, fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	}
	if m.e.PeerFailed(peer) != nil { // peerGone may have been here already
		m.peers[peer].Store(nil)
		return nil, m.peerError(peer)
	}
	return t, nil
}

// shareWait bounds the wait for memory that the peer has sent already.
const shareWait = 5 * time.Second

// share takes the peer's memory from the conduit, where it is on its way at least. A peer whose memory does not come is
// reached by active messages.
func (m *Memory) share(t *target) {
	want := m.counterAt(t.size) + int64(m.counters)*counterStride
	for end := time.Now().Add(shareWait); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		mem, err := m.shared.Segment(t.rank)
		if err != nil || mem != nil && int64(len(mem)) != want {
			return
		}
		if mem != nil {
			t.mem, t.counters, t.lost = mem[:t.size:t.size], mem[m.counterAt(t.size):], m.shared.Lost(t.rank)
			return
		}
	}
}

// forget has every access take the slow way, which finds that the memory is closed.
func (m *Memory) forget() {
	for i := range m.peers {
		m.peers[i].Store(nil)
	}
}

// peerGone ends what is under way towards a peer that has failed. What starts later is refused.
func (m *Memory) peerGone(peer int, _ error, w *fult.Worker) {
	m.peers[peer].Store(nil) // whatever the conduit's memory says
	m.ops.fail(w, func(p int) error {
		if p != peer {
			return nil
		}
		return m.peerError(p)
	})
	m.notes.lookAll(w, m)
}

// expect has the calling fult thread, if it is one, woken by o without a search. The caller waits for o itself.
func (m *Memory) expect(o *op) {
	if t := m.prog.Current(); t != nil {
		o.done.Expect(t)
	}
}
