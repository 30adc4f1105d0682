package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Collectives over several nodes, in tiers: ranks of a node meet through its shared segment, and its first rank, the
// leader, exchanges messages with the leaders of the other nodes. So each byte crosses the network once for a node, not
// for a rank.

// leader is the place of the leader among the ranks of its node.
const leader = 0

// tiers tells that the call can be one in tiers.
func (x *Call) tiers() bool { return x.st.shared.leaders != nil && x.async == nil }

// among carries out the schedule that build makes for the leaders, on a leader.
func (x *Call) among(build func(s *schedule.Schedule, p schedule.Place)) error {
	sh := &x.st.shared
	s := x.fresh(x.alg)
	build(s, schedule.Place{Rank: sh.leaderIndex[x.rank], Size: len(sh.leaders)})
	s.Rename(sh.leaders)
	return x.performSteps()
}

// tierBarrier is a barrier in two levels. The ranks of a node tell their leader through the shared segment. The leaders
// have a barrier by messages. Then each leader releases its node.
func tierBarrier(x *Call, _ int) error {
	if x.st.shared.me != leader {
		err := x.bring(nil)
		if err == nil {
			_, err = x.brought(leader, 0)
		}
		x.allBrought()
		return err
	}
	for r := 1; r < x.near(); r++ {
		if _, err := x.brought(r, 0); err != nil {
			return err
		}
	}
	x.allBrought()
	if err := x.among((*schedule.Schedule).Barrier); err != nil {
		return err
	}
	return x.bring(nil)
}

// tierBcast gives all ranks the Out of root. Its node has it first, and then the leaders.
func tierBcast(x *Call, root int) error {
	sh, b := &x.st.shared, x.buf[schedule.Out].mem
	here, from := sh.leaderIndex[root] == sh.leaderIndex[x.rank], leader
	if here {
		from = sh.placeOf(root)
		if err := x.spreadNear(b, from); err != nil {
			return err
		}
	}
	if sh.me == leader {
		at := sh.leaderIndex[root]
		err := x.among(func(s *schedule.Schedule, p schedule.Place) { s.BcastTree(p, at, len(b)) })
		if err != nil {
			return err
		}
	}
	if here {
		return nil
	}
	return x.spreadNear(b, leader)
}

// placeOf is the place of a rank of this node.
func (on *nodes) placeOf(rank int) int {
	for i, r := range on.ranks {
		if r == rank {
			return i
		}
	}
	return leader
}

// spreadNear gives b of a rank of the node to the others.
func (x *Call) spreadNear(b []byte, from int) error {
	if len(b) <= shmcoll.Short {
		return x.spreadShort(b, from)
	}
	if err := x.beginBulk(); err != nil {
		return err
	}
	return x.spreadChunks(b, from, 0)
}

// tierAllreduce combines the In of all ranks, where each half of the ranks is whole nodes, and so on: the order is that
// of all reductions.
func tierAllreduce(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	out = out[:len(in)]
	if len(in) > shmcoll.Short {
		next, err := x.reduceLong(true)
		if err == nil && x.st.shared.me == leader {
			err = x.reduceAmong(out)
		}
		if err == nil {
			err = x.spreadChunks(out, leader, next)
		}
		return err
	}
	if x.st.shared.me != leader {
		err := x.bring(in)
		if err == nil {
			in, err = x.brought(leader, len(in))
			copy(out, in)
		}
		x.allBrought()
		return err
	}
	var all [shmcoll.MaxRanks][]byte
	all[leader] = in
	for r := 1; r < x.near(); r++ {
		b, err := x.brought(r, len(in))
		if err != nil {
			return err
		}
		all[r] = b
	}
	x.allBrought()
	result := x.st.shared.b.Short(leader, x.call).Bytes(len(in))
	if err := x.mayBring(); err != nil {
		return err
	}
	if x.near() == 1 {
		copy(result, in)
	} else if err := x.fold(result, all[:x.near()]); err != nil {
		return err
	}
	if err := x.reduceAmong(result); err != nil {
		return err
	}
	copy(out, result)
	return x.bring(result)
}

// reduceAmong combines b of all leaders, into b.
func (x *Call) reduceAmong(b []byte) error {
	elem := x.buf[schedule.In].size
	x.buf[schedule.In].mem, x.buf[schedule.Out].mem = b, b
	return x.among(func(s *schedule.Schedule, p schedule.Place) {
		if w := algorithm.ChooseAllreduce(p.Size, len(b), len(b)/elem); w == algorithm.AllreduceRing {
			s.AllreduceShares(p, len(b)/elem, elem)
		} else {
			s.AllreduceDoubling(p, len(b), true)
		}
	})
}

// tierAllgather gives all ranks the parts of all, which are short, where each node has a run of ranks.
func tierAllgather(x *Call, _ int) error {
	sh, in, out := &x.st.shared, x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(in)
	out = out[:n*x.size]
	if sh.me != leader {
		if err := x.bring(in); err != nil {
			return err
		}
	} else {
		first := x.rank
		copy(out[first*n:], in)
		for r := 1; r < x.near(); r++ {
			b, err := x.brought(r, n)
			if err != nil {
				return err
			}
			copy(out[(first+r)*n:], b)
		}
		lens := make([]int, len(sh.leaders))
		for _, at := range sh.leaderIndex {
			lens[at] += n
		}
		parts := schedule.Packed(schedule.Out, lens, make([]int, len(lens)))
		err := x.among(func(s *schedule.Schedule, p schedule.Place) { s.AllgathervSteps(p, &parts, true) })
		if err != nil {
			return err
		}
	}
	err := x.spreadNear(out, leader)
	x.allBrought()
	return err
}
