package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
	"github.com/golci/golci/mpi/internal/groupmsg"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// An inter-communicator (7.6) has two groups without a rank in common. Messages go to ranks of the other group, so that
// is what its group is. Its id and uid are the same on both sides. What all its ranks agree on they agree on in
// meetings, in an order of ranks that both sides know: first the group that begins with the lower rank of the world.

// Inter tells whether c is an inter-communicator (MPI_Comm_test_inter).
func (c *Comm) Inter() bool { return c != nil && c.local != nil }

// RemoteSize is the number of ranks in the other group (MPI_Comm_remote_size). ErrComm: c has none.
func (c *Comm) RemoteSize() (int, error) {
	if err := c.remote("RemoteSize"); err != nil {
		return 0, err
	}
	return len(c.group), nil
}

// remote tells why the other group of c cannot be asked for.
func (c *Comm) remote(what string) error {
	if err := c.there(what); err != nil {
		return err
	}
	return c.twoGroups(what)
}

// ownGroupFirst tells whether the own group is the first of the two, in the order on which both agree.
func (c *Comm) ownGroupFirst() bool { return c.local == nil || c.local[0] < c.group[0] }

// usableInter is usable of what needs an inter-communicator.
func (c *Comm) usableInter(what string) error {
	if err := c.checkUsable(what); err != nil {
		return err
	}
	return c.twoGroups(what)
}

func (c *Comm) twoGroups(what string) error {
	if c.local == nil {
		return c.commErrorf(what, ": %w: it has one group", sentinel.ErrComm)
	}
	return nil
}

// usableIntra is usable of what needs a communicator of one group.
func (c *Comm) usableIntra(what string) error {
	if err := c.checkUsable(what); err != nil {
		return err
	}
	if c.local != nil {
		return c.commErrorf(what, ": %w: it has two groups", sentinel.ErrComm)
	}
	return nil
}

// ordered is two groups in the order on which both agree.
func ordered(local, remote []int32) (first, second []int32) {
	if local[0] < remote[0] {
		return local, remote
	}
	return remote, local
}

// meeting is the next meeting of all ranks of c for the function what, which all call it in the same order.
func (c *Comm) meeting(what string) *groupExchange {
	o := c.origin()
	name := groupmsg.Make(groupmsg.Members, o.coll.UID, int(o.meetings.Add(1)), "")
	members := c.group
	if c.local != nil {
		members = slices.Concat(ordered(c.local, c.group))
	}
	return newExchange(c.scope(what), c.proc, name, members)
}

// dressed has an error of a meeting name the function and the rank.
func (c *Comm) dressed(what string, err error) error {
	if err == nil {
		return nil
	}
	return c.commErrorf(what, ": %w", c.cause(err))
}

// dupInter is dup of an inter-communicator.
func (c *Comm) dupInter(what string) (*Comm, error) {
	id, uid, err := c.meeting(what).agree()
	if err != nil {
		return nil, c.dressed(what, err)
	}
	return newInter(c.home(), id, uid, c.local, c.group), nil
}

// splitInter is Split of an inter-communicator.
func (c *Comm) splitInter(what string, color, key int) (*Comm, error) {
	y := c.meeting(what)
	all, err := y.gather(uint64(int64(color)), uint64(int64(key)))
	var id int
	var uid uint64
	if err == nil {
		id, uid, err = y.agree()
	}
	if err != nil {
		return nil, c.dressed(what, err)
	}
	first, _ := ordered(c.local, c.group)
	atLocal, atRemote := 0, len(first)
	if !c.ownGroupFirst() {
		atLocal, atRemote = len(first), 0
	}
	local, remote := choose(c.local, all[2*atLocal:], color), choose(c.group, all[2*atRemote:], color)
	bad := color < 0 && color != Undefined
	if color < 0 || len(remote) == 0 {
		c.proc.ids.Release(id)
		if bad {
			return nil, c.commErrorf(what, ": %w: colour %d", sentinel.ErrArgument, color)
		}
		return nil, nil
	}
	return newInter(c.home(), id, uid, local, remote), nil
}

// choose is the ranks of a colour, ordered by key. claims has a colour and a key of each rank.
func choose(ranks []int32, claims []uint64, color int) []int32 {
	type member struct {
		rank int32
		key  int64
	}
	var all []member
	for i, r := range ranks {
		if int64(claims[2*i]) == int64(color) {
			all = append(all, member{r, int64(claims[2*i+1])})
		}
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	chosen := make([]int32, len(all))
	for i, m := range all {
		chosen[i] = m.rank
	}
	return chosen
}

// CreateInter makes an inter-communicator of the ranks of c and those of another communicator (7.6.2,
// MPI_Intercomm_create). leader is a rank of c. It reaches the leader of the other group as rank remote of peer; on
// other ranks peer and remote do not matter. Both leaders give one tag. Collective over both groups; it waits. Errors:
// ErrComm, also where the groups overlap, ErrRank, ErrTag, ErrContexts, and those of communication.
func (c *Comm) CreateInter(leader int, peer *Comm, remote, tag int) (*Comm, error) {
	const what = "CreateInter"
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	if uint(leader) >= uint(len(c.group)) {
		return nil, c.commErrorf(what, ": %w: leader %d", sentinel.ErrRank, leader)
	}
	var told []uint64
	var why error
	if leader == c.rank {
		told, why = c.exchangeLeaders(what, peer, remote, tag)
	}
	told, err := c.meeting(what).spreadWords(told)
	switch {
	case why != nil:
		return nil, why
	case err != nil:
		return nil, c.dressed(what, err)
	case len(told) < 2:
		return nil, c.commErrorf(what, ": %w: the leader has failed", errs.Other)
	}
	return c.joined(what, told[0], toRanks(told[1:]))
}

// spreadWords gives all members the words of the one that has some.
func (y *groupExchange) spreadWords(words []uint64) ([]uint64, error) {
	b, err := y.combineAll(bytesOfWords(words), func(low, high []byte) []byte { return append(low, high...) })
	return wordsOf(b), err
}

// exchangeLeaders is the leaders' part of CreateInter. It gives a word that both sides know and nobody else, and then
// the ranks of the other group.
func (c *Comm) exchangeLeaders(what string, peer *Comm, remote, tag int) ([]uint64, error) {
	if err := peer.Bad(what, Sending, nil, remote, tag); err != nil {
		return nil, err
	}
	if remote < 0 {
		return nil, c.commErrorf(what, ": %w: remote leader %d", sentinel.ErrRank, remote)
	}
	me, other := int32(c.proc.rank.Rank()), peer.group[remote]
	both, err := group.New([]int32{min(me, other), max(me, other)})
	if err != nil {
		return nil, c.commErrorf(what, ": %w: the remote leader is the rank itself", sentinel.ErrRank)
	}
	told, err := c.trade(what, groupmsg.Make(groupmsg.Intercomm, peer.coll.UID, tag, "", both), int(other))
	return told, c.dressed(what, err)
}

// trade gives the group of c, in a meeting of two ranks, for that of the other one. Before it comes a word that both
// know and nobody else.
func (c *Comm) trade(what string, name groupmsg.Name, other int) ([]uint64, error) {
	s, me := &c.proc.system, c.proc.rank.Rank()
	y := newExchange(c.scope(what), c.proc, name, []int32{int32(me), int32(other)})
	mine := append([]uint64{c.proc.newUID()}, fromRanks(c.group)...)
	var got []byte
	var err error
	if me < other {
		err = s.sendMessage(y, other, bytesOfWords(mine))
	}
	if err == nil {
		got, err = s.recv(y, other)
	}
	if err == nil && me > other {
		err = s.sendMessage(y, other, bytesOfWords(mine))
	}
	if err != nil {
		return nil, err
	}
	told := wordsOf(got)
	if len(told) > 0 {
		told[0] ^= mine[0]
	}
	return told, nil
}

// joined makes the inter-communicator with another group, in a meeting that both name by key.
func (c *Comm) joined(what string, key uint64, remote []int32) (*Comm, error) {
	for _, r := range remote {
		if c.rankOf(int(r)) >= 0 && slices.Contains(c.group, r) {
			return nil, c.commErrorf(what, ": %w: %s is in both groups", sentinel.ErrComm, fmt.Sprintf("rank %d of the world",
				r))
		}
	}
	y := newExchange(c.scope(what), c.proc, groupmsg.Make(groupmsg.Intercomm, key, 0, ""), slices.Concat(ordered(c.group, remote)))
	id, uid, err := y.agree()
	if err != nil {
		return nil, c.dressed(what, err)
	}
	return newInter(c.home(), id, uid, c.group, remote), nil
}

func fromRanks(ranks []int32) []uint64 {
	words := make([]uint64, len(ranks))
	for i, r := range ranks {
		words[i] = uint64(r)
	}
	return words
}

func toRanks(words []uint64) []int32 {
	ranks := make([]int32, len(words))
	for i, w := range words {
		ranks[i] = int32(w)
	}
	return ranks
}

// Merge makes a communicator of all ranks of both groups (7.6.2, MPI_Intercomm_merge). The ranks of the group that
// gives high come last. Where both groups give the same, they agree on an order. All ranks of a group give the same.
// Collective over both groups; it waits. Errors: ErrComm, ErrContexts, and those of communication.
func (c *Comm) Merge(high bool) (*Comm, error) {
	const what = "Merge"
	if err := c.usableInter(what); err != nil {
		return nil, err
	}
	var mine uint64
	if high {
		mine = 1
	}
	y := c.meeting(what)
	all, err := y.gather(mine)
	var id int
	var uid uint64
	if err == nil {
		id, uid, err = y.agree()
	}
	if err != nil {
		return nil, c.dressed(what, err)
	}
	first, second := ordered(c.local, c.group)
	if all[0] > all[len(first)] {
		first, second = second, first
	}
	ranks := slices.Concat(first, second)
	return newComm(c.home(), id, uid, ranks, slices.Index(ranks, int32(c.proc.rank.Rank()))), nil
}
