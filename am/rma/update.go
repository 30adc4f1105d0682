package rma

import (
	"fmt"
	"slices"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/platform/spin"
)

// An update is an access that the owner of the memory makes itself, as a program that the layer above has sent says:
// many pieces at once, or operations that are atomic with respect to all other updates of that rank.

// PieceFunc gives n bytes at an offset of the region that an update is for; nil if they do not exist.
type PieceFunc func(off int64, n int) []byte

// Updater makes one update. request is what the origin has sent. What it appends to reply, at most its capacity, the
// origin gets. False: the request is refused, maybe after a part of it has been done. It must not block.
type Updater func(at PieceFunc, request, reply []byte) (answer []byte, ok bool)

// updates is what a rank makes updates with.
type updates struct {
	run Updater // set before the first update
	// mu is held during an update: one runs at a time.
	mu    spin.Lock
	reply []byte // room for answers to peers; the poller's
}

// SetUpdater sets what makes updates of this rank's regions. It is called before peers can ask for one.
func (m *Memory) SetUpdater(u Updater) { m.updates.run = u }

// MaxUpdate is the longest request of an update in bytes, and the longest answer.
func (m *Memory) MaxUpdate() (request, answer int) { return m.frag, m.reply }

// UpdateNB has peer run its Updater on a region with request, and puts the answer into dst, which has just that length.
// Neither may be touched until the handle is done. Updates of one rank to another are made in the order of the calls.
// One of this rank itself is made at once. Errors as for PutNBBulk; ErrArgument if request or dst is too long;
// ErrRefused.
func (m *Memory) UpdateNB(peer int, r Region, request, dst []byte) (Handle, error) {
	if uint(peer) >= uint(len(m.peers)) {
		return Handle{}, m.rankError(peer)
	}
	if len(request) > m.frag || len(dst) > m.reply {
		return Handle{}, fmt.Errorf("%w: rank %d: update of %d bytes, answer of %d; the most are %d and %d", ErrArgument,
			peer, len(request), len(dst), m.frag, m.reply)
	}
	if peer == m.rank {
		return Handle{}, m.updateOwn(r, request, dst)
	}
	o, err := m.newOp(peer, 1, dst, result{})
	if err != nil {
		return Handle{}, err
	}
	o.send = sendState{kind: sendOne, h: updateHandler(len(dst)), nargs: 2, src: request}
	o.send.args = [maxArgs]uint64{uint64(r), uint64(len(dst))}
	return m.launchIn(o, nil, false)
}

// updateHandler is the handler of updates whose answer has n bytes; see getHandler.
func updateHandler(n int) uint8 {
	switch {
	case n <= smallReply:
		return hUpdate
	case n <= middleReply:
		return hUpdate1K
	}
	return hUpdateMost
}

// doUpdate makes one of this rank's updates. The answer is appended to reply, whose capacity it fills.
func (m *Memory) doUpdate(r Region, request, reply []byte) (answer []byte, ok bool) {
	own := m.regions.regionOf(r)
	u := &m.updates
	if own == nil || u.run == nil {
		return nil, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	m.fenceRead()
	answer, ok = u.run(own.pieceAt, request, reply)
	m.fenceWrite()
	return answer, ok && len(answer) == cap(reply)
}

func (m *Memory) updateOwn(r Region, request, dst []byte) error {
	if _, ok := m.doUpdate(r, request, dst[:0:len(dst)]); !ok {
		return fmt.Errorf("%w: rank %d: an update of region %d", ErrRefused, m.rank, r)
	}
	return nil
}

// onUpdate answers by an ack where there is no data.
func (m *Memory) onUpdate(t *am.Token, a []uint64, p []byte) error {
	if a[1] > maxRegions || a[2] > uint64(m.reply) {
		return m.ack(t, a[0], false)
	}
	u := &m.updates
	u.reply = slices.Grow(u.reply[:0], m.reply)
	answer, ok := m.doUpdate(Region(a[1]), p, u.reply[:0:a[2]])
	if !ok || len(answer) == 0 {
		return m.ack(t, a[0], ok)
	}
	m.answer = [3]uint64{a[0], 0} // the place in the requester's memory
	return t.ReplyMedium(hData, answer, m.answer[:2]...)
}
