package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/groupmsg"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// groupExchange is a rank's part in a meeting. All members know all members, which are ranks of the world in the same
// order.
type groupExchange struct {
	scope
	p       *Proc
	name    groupmsg.Name
	members []int32
	me      int // the rank's place in members
}

// newExchange is the party of members, which this rank is one of.
func newExchange(sc scope, p *Proc, name groupmsg.Name, members []int32) *groupExchange {
	return &groupExchange{sc, p, name, members, slices.Index(members, int32(p.rank.Rank()))}
}

// awaits registers a wait for a member, a rank of the world.
func (y *groupExchange) awaits(member int) comm.Req {
	return y.beginWait(y.p.srv, member, func(rank int) bool { return y.ends(rank, member) })
}

// ends tells whether the failure of a rank ends a wait for the member from. If a member dies, the others may wait for
// each other. One that has closed its conduit may just have left the meeting before the others.
func (y *groupExchange) ends(rank, from int) bool {
	if rank == from || !slices.Contains(y.members, int32(rank)) {
		return rank == from
	}
	return !errors.Is(y.p.srv.Endpoint().PeerFailed(rank), conduit.ErrPeerClosed)
}

// combineAll gives all members what f makes of the bytes of all, in their order. f may change its first argument. A
// member sends and receives about log2 of their number. It waits.
func (y *groupExchange) combineAll(mine []byte, f func(low, high []byte) []byte) ([]byte, error) {
	s, n, step := &y.p.system, len(y.members), 1
	for ; step < n && y.me&step == 0; step *= 2 {
		if y.me+step < n {
			high, err := s.recv(y, y.rankOf(y.me+step))
			if err != nil {
				return nil, err
			}
			mine = f(mine, high)
		}
	}
	if y.me != 0 {
		if err := s.sendMessage(y, y.rankOf(y.me-step), mine); err != nil {
			return nil, err
		}
		var err error
		if mine, err = s.recv(y, y.rankOf(y.me-step)); err != nil {
			return nil, err
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if y.me+step < n {
			if err := s.sendMessage(y, y.rankOf(y.me+step), mine); err != nil {
				return nil, err
			}
		}
	}
	return mine, nil
}

// rankOf is the rank in the world of a member.
func (y *groupExchange) rankOf(member int) int { return int(y.members[member]) }

// and sets all to the bitwise and of the mine of all members.
func (y *groupExchange) and(mine, all []byte) error {
	got, err := y.combineAll(slices.Clone(mine), func(low, high []byte) []byte {
		for i := range min(len(low), len(high)) {
			low[i] &= high[i]
		}
		return low
	})
	copy(all, got)
	return err
}

// gather gives the words of all members, as many of each, in their order.
func (y *groupExchange) gather(mine ...uint64) ([]uint64, error) {
	b, err := y.combineAll(bytesOfWords(mine), func(low, high []byte) []byte { return append(low, high...) })
	if err != nil {
		return nil, err
	}
	if len(b) != 8*len(mine)*len(y.members) {
		return nil, fmt.Errorf("%w: members of a meeting bring different things", sentinel.ErrMismatch)
	}
	return wordsOf(b), nil
}

// bytesOfWords is words as they travel.
func bytesOfWords(words []uint64) []byte {
	b := make([]byte, 0, 8*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func wordsOf(b []byte) []uint64 {
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return words
}

// agree has all members claim an id, and gives it with a uid that no other communicator of the job has.
func (y *groupExchange) agree() (id int, uid uint64, err error) {
	y.p.sweepIfShort()
	if id, err = y.p.ids.Agree(contextid.Plain, int(y.name>>1), y.and); err != nil {
		return 0, 0, err
	}
	all, err := y.gather(y.p.newUID())
	if err != nil {
		return 0, 0, err
	}
	return id, all[0], nil
}

// newUID names a communicator that this rank leads the making of.
func (p *Proc) newUID() uint64 {
	return contextid.Mix(uint64(p.rank.Rank())<<40|p.system.nonce.Add(1), 0x6a09e667f3bcc909)
}
