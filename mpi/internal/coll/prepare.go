package coll

import (
	"context"
	"math/bits"

	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// prepareCall is what few calls need.
func (x *Call) prepareCall(typ error) error {
	if !x.st.hinted {
		x.st.hintPartners()
	}
	if err := x.poisoned(); err != nil {
		return err
	}
	if err := contextOver(x.view.until); err != nil {
		return x.gaveUp(err)
	}
	if x.view.until != nil && x.async == nil {
		alarm := &x.st.listener.Alarm
		x.stop = context.AfterFunc(x.view.until, func() { alarm.Complete(nil) })
	}
	if x.call&x.st.roundMask == 0 {
		x.awaitOlder()
		if x.async == nil {
			if err := x.round(); err != nil {
				return err
			}
		}
	}
	if x.call == x.st.shared.at {
		if err := x.makeShm(); err != nil {
			return err
		}
	}
	if err := x.lookBack(); err != nil {
		return err
	}
	x.st.prepareFrom = x.nextChecked()
	if typ != nil {
		return x.view.comm.OpError(x.kind, typ)
	}
	return nil
}

// nextChecked is the number of the next call that needs prepare: a power of two, the first of a round, or the very next
// one while there are doubts.
func (x *Call) nextChecked() uint64 {
	if x.st.leftoverCalls > 0 {
		return x.call + 1
	}
	return min(1<<bits.Len64(x.call), (x.call|x.st.roundMask)+1)
}

// lookBack looks for messages of calls before, now and then: at calls whose number is a power of two. A rank that is
// ahead makes messages wait, too, and the look goes through all that waits. So after the first calls it is made only if
// messages have waited at each of the calls since.
func (x *Call) lookBack() error {
	st := x.st
	if x.call&(x.call-1) == 0 {
		st.leftoverCalls = maxLeftoverCalls
		if x.call <= maxLeftoverCalls {
			st.leftoverCalls = 1
		}
	}
	if st.leftoverCalls == 0 {
		return nil
	}
	if st.leftoverCalls--; !x.st.Server.Unread() {
		st.leftoverCalls = 0
	} else if st.leftoverCalls == 0 {
		return x.leftover()
	}
	return nil
}

// maxLeftoverCalls is at how many calls messages must have waited before they are looked at.
const maxLeftoverCalls = 64

// round comes before the low bits of numbers are used again, four times in their range. It is a barrier, so that no
// rank gets ahead of another by half the range. Then a message of an earlier call can be told from one of a later
// call. After it, messages of calls before are looked for. A call that does not wait has the barrier in progress. So
// a rank may start the calls up to the next round before it has passed this one, but not those after it.
func (x *Call) round() error {
	w := x.alg
	x.once = true
	x.alg, x.tag = algorithm.Round, algorithm.MakeTag(x.size, algorithm.Round, 0, x.call)
	x.lastTag = x.tag
	x.meetAll(x.fresh(algorithm.Round))
	err := x.perform()
	x.alg = w
	if err != nil {
		return err
	}
	return x.leftover()
}

// hintedMessages is how many messages to a partner a collective may have under way.
const hintedMessages = 2

// hintPartners hints at the partners of collectives. Trees, dissemination and recursive doubling use the ranks at
// distances of a power of two, rings the next rank. Once for each communicator.
func (st *State) hintPartners() {
	st.hinted = true
	n := len(st.Peers)
	for d := 1; d < n; d *= 2 {
		st.OfRank.Rank.Hint(hintedMessages, st.Server.EagerLimit(), int(st.Peers[(st.Rank+d)%n]),
			int(st.Peers[(st.Rank-d+n)%n]))
	}
}
