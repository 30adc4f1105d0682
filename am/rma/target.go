package rma

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// target is what this rank knows of a peer's memory; fixed.
type target struct {
	rank     int
	region   Region // 0: the segment
	size     int64
	mem      []byte // the segment, nil if it is not mapped
	counters []byte // the counters, behind it
	lost     *atomic.Bool
	key      conduit.Key   // of segment and counters, zero if the conduit does not lead there
	reach    conduit.Reach // under key
}

// directBytes gives the bytes of peer's segment that are to be read or written, or nil if that needs care: they do not
// exist, or are not reached directly, or not yet, or the peer has failed. It is the fast path of everything.
func (m *Memory) directBytes(peer int, off int64, n int) []byte {
	if uint(peer) >= uint(len(m.peers)) {
		return nil
	}
	t := m.peers[peer].Load()
	if t == nil || uint64(off) > uint64(len(t.mem)) || uint64(n) > uint64(len(t.mem))-uint64(off) || t.lost.Load() {
		return nil
	}
	return t.mem[off:][:n:n]
}

// checkAccess finds the target of an access and checks its bounds. It may block, see askTarget.
func (m *Memory) checkAccess(peer int, off int64, n int) (*target, error) {
	r, at := splitOffset(off)
	if off < 0 {
		r, at = 0, off
	}
	t, err := m.askTarget(peer, r)
	if err != nil {
		if r != 0 {
			err = fmt.Errorf("%w; offset %d, %d bytes", err, off, n)
		}
		return nil, err
	}
	if off = at; off < 0 || n < 0 || off > t.size || int64(n) > t.size-off {
		return nil, fmt.Errorf("%w: rank %d, offset %d, %d bytes, segment of %d bytes", ErrBounds, t.rank, off, n,
			t.size)
	}
	if m.e.PeerFailed(peer) != nil {
		return nil, m.e.PeerError(peer)
	}
	return t, nil
}

// reachBytes is directBytes, or else checkAccess. mem is nil if the bytes are not reached directly, t if directBytes
// has found them.
func (m *Memory) reachBytes(peer int, off int64, n int) (mem []byte, t *target, err error) {
	if mem = m.directBytes(peer, off, n); mem != nil {
		return mem, nil, nil
	}
	if t, err = m.checkAccess(peer, off, n); err != nil {
		return nil, nil, err
	}
	return t.bytesAt(off, n), t, nil
}

// bytesAt gives n bytes of a segment that is reached directly; nil if it is not.
func (t *target) bytesAt(off int64, n int) []byte {
	if t.mem == nil {
		return nil
	}
	_, off = splitOffset(off)
	return t.mem[off:][:n:n]
}

// askTarget asks peer, the first time, for the size of its segment or region, and waits for the answer.
func (m *Memory) askTarget(peer int, r Region) (*target, error) {
	if uint(peer) >= uint(len(m.peers)) {
		return nil, m.rankError(peer)
	}
	if m.closed.Load() {
		return nil, fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	}
	if t := m.knownRegion(peer, r); t != nil {
		return t, nil
	}
	return m.attachRegion(peer, r)
}

func (m *Memory) attachRegion(peer int, r Region) (*target, error) {
	var about segmentInfo
	o, err := m.newOp(peer, 1, about[:], result{})
	if err != nil {
		return nil, err
	}
	o.send = sendState{h: hHello, nargs: 1, args: [maxArgs]uint64{uint64(r)}}
	m.prog.Begin(&o.done)
	if err := m.launchOp(o, false); err != nil {
		return nil, err
	}
	m.prog.Wait(&o.done)
	if _, err := o.takeOutcome(); err != nil {
		return nil, err
	}
	t := &target{rank: peer, region: r, size: int64(about.wordAt(0)), lost: new(atomic.Bool)}
	if r != 0 {
		return m.meetRegion(t, &about)
	}
	if n := about.wordAt(1); t.size <= 0 || t.size > maxSegment || n != uint64(m.counters) {
		return nil, fmt.Errorf("%w: rank %d has a segment of %d bytes and %d counters, rank %d has %d counters", ErrConfig,
			peer, t.size, n, m.rank, m.counters)
	}
	k := conduit.Key{ID: about.wordAt(2), Base: about.wordAt(3), Size: m.totalSize(t.size)}
	if k.ID != 0 && m.remote != nil {
		t.reach = m.remote.Reach(peer)
		t.key = k
	}
	if t.reach.Map {
		m.mapShared(t)
	}
	if !m.peers[peer].CompareAndSwap(nil, t) {
		t = m.peers[peer].Load()
	}
	if m.closed.Load() {
		m.forceSlowWay()
		return nil, fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	}
	if m.e.PeerFailed(peer) != nil { // peerGone may have been here already
		m.peers[peer].Store(nil)
		return nil, m.e.PeerError(peer)
	}
	return t, nil
}

const shareWait = 5 * time.Second // for memory that the peer has sent already

// mapShared maps the peer's memory, of which it has been told. If that does not come, there are other ways to the peer.
func (m *Memory) mapShared(t *target) {
	for end := time.Now().Add(shareWait); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		mem, lost, err := m.remote.Map(t.rank, t.key)
		if err != nil {
			return
		}
		if mem != nil {
			if t.lost = lost; t.region == 0 {
				t.reachThrough(m, mem)
			} else {
				t.mem = slices.Clip(mem)
			}
			return
		}
	}
}

// reachThrough has t be reached by loads and stores in mem.
func (t *target) reachThrough(m *Memory, mem []byte) *target {
	t.mem, t.counters = mem[:t.size:t.size], mem[m.counterAt(t.size):]
	return t
}

// segmentInfo answers the first message of a rank: size of the segment, number of counters, and the key of both, if
// any.
type segmentInfo [4 * 8]byte

// mappable is what a welcome tells of a region in place of the counters: whether peers may map it.
const mappable = 1

// meetRegion makes this rank know a region of a peer.
func (m *Memory) meetRegion(t *target, about *segmentInfo) (*target, error) {
	if t.size < 0 || t.size > offsetMask+1 {
		return nil, fmt.Errorf("%w: rank %d has no region %d", ErrBounds, t.rank, t.region)
	}
	k := conduit.Key{ID: about.wordAt(2), Base: about.wordAt(3), Size: t.size}
	if k.ID != 0 && m.remote != nil {
		t.reach, t.key = m.remote.Reach(t.rank), k
	}
	if t.reach.Map && about.wordAt(1) == mappable {
		m.mapShared(t)
	}
	m.setKnown(t.rank, t.region, t)
	if m.closed.Load() {
		m.forceSlowWay()
		return nil, fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	}
	if m.e.PeerFailed(t.rank) != nil { // peerGone may have been here already
		m.forgetRegions(t.rank)
		return nil, m.e.PeerError(t.rank)
	}
	return t, nil
}

// welcomeWords is what a welcome tells of a region of this rank.
func (m *Memory) welcomeWords(number Region, peer int) [4]uint64 {
	r := m.regions.regionOf(number)
	if r == nil {
		return [4]uint64{1 << 63}
	}
	if r.find != nil {
		return [4]uint64{offsetMask + 1}
	}
	k, words := m.keyOf(r, peer), [4]uint64{uint64(len(r.mem))}
	if r.shared {
		words[1] = mappable
	}
	words[2], words[3] = k.ID, k.Base
	return words
}

func (w *segmentInfo) wordAt(i int) uint64 { return binary.LittleEndian.Uint64(w[8*i:]) }

func (m *Memory) onHello(t *am.Token, a []uint64, _ []byte) error {
	var words [4]uint64
	if r := a[1]; r == 0 {
		k := m.keyFor(t.Source())
		words = [4]uint64{uint64(m.size), uint64(m.counters), k.ID, k.Base}
	} else {
		words = m.welcomeWords(Region(min(r, maxRegions)), t.Source())
	}
	b := make([]byte, 0, len(segmentInfo{}))
	for _, v := range words {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return t.ReplyMedium(hData, b, a[0], 0)
}

// keyFor returns the key under which peer reaches this rank's segment and counters. The first call exposes them to
// peer. The key is zero, for good, if there is no conduit.Remote or if Expose has failed. Only the poller calls it.
func (m *Memory) keyFor(peer int) conduit.Key {
	k, ok := m.keys[peer]
	if !ok && m.remote != nil {
		k, _ = m.remote.Expose(peer, m.mem)
		m.keys[peer] = k
	}
	return k
}

// forceSlowWay makes every access take the slow way, which finds that the memory is closed.
func (m *Memory) forceSlowWay() {
	for i := range m.peers {
		m.peers[i].Store(nil)
		m.forgetRegions(i)
	}
}

// peerGone ends what is under way towards a peer that has failed. What starts later is refused.
func (m *Memory) peerGone(peer int, _ error, w *fult.Worker) {
	m.peers[peer].Store(nil) // whatever the conduit's memory says
	m.forgetRegions(peer)
	m.releaseKeys(peer)
	m.failPeer(peer, m.e.PeerError(peer), w)
	m.notes.lookAll(w, m)
}
