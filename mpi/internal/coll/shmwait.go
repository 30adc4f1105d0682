package coll

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/platform/futex"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/notice"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Waits of calls through a shared segment. A rank looks at a word of the shared segment while it polls. If that lasts
// it says on the shared segment that it may be asleep, and sleeps as in any other wait. Who changes the shared segment
// then tells it by a notice. Here, and in the files of short and long calls, ranks are named by their places among
// those of the node.

// overShm makes the call one through the shared segment, with no schedule. n is how many bytes each rank brings.
func (x *Call) overShm(w algorithm.Algorithm, root, n int) error {
	x.takeAlgorithm(w, root)
	x.bytes = n
	return nil
}

// canUseShm tells that the call can be one through the shared segment, among ranks of one node.
func (x *Call) canUseShm() bool {
	return x.st.shared.b != nil && x.st.shared.leaders == nil && x.async == nil
}

// pollEvery is how many calls through the shared segment there are to a poll. A call in which nothing is waited for
// makes none.
const pollEvery = 4

// performShm carries the call out. Before and after it says which calls it has done with.
func (x *Call) performShm() error {
	x.tellDone(x.call)
	if x.call%pollEvery == 0 {
		x.st.Server.Poll()
	}
	err := x.shmSteps(algorithm.RootOfTag(x.size, x.tag))
	x.tellDone(x.call + 1)
	x.forgetBuffers()
	return err
}

// shmSteps carries out the call by its algorithm.
func (x *Call) shmSteps(root int) error {
	switch x.alg {
	case algorithm.ShmAllgather:
		return shmAllgather(x, root)
	case algorithm.ShmAllgatherLong:
		return shmAllgatherLong(x, root)
	case algorithm.ShmAllgatherParts:
		return shmAllgatherParts(x, root)
	case algorithm.ShmAllreduce:
		return shmAllreduce(x, root)
	case algorithm.ShmAllreduceLong:
		return shmAllreduceLong(x, root)
	case algorithm.ShmAlltoall:
		return shmAlltoall(x, root)
	case algorithm.ShmAlltoallLong:
		return shmAlltoallLong(x, root)
	case algorithm.ShmAlltoallParts:
		return shmAlltoallParts(x, root)
	case algorithm.ShmBarrier:
		return shmBarrier(x, root)
	case algorithm.ShmBcast:
		return shmBcast(x, root)
	case algorithm.ShmBcastLong:
		return shmBcastLong(x, root)
	case algorithm.ShmGather:
		return shmGather(x, root)
	case algorithm.ShmReduce:
		return shmReduce(x, root)
	case algorithm.ShmReduceLong:
		return shmReduceLong(x, root)
	case algorithm.ShmBlock:
		return shmReduceScatter(x, root)
	case algorithm.ShmScatter:
		return shmScatter(x, root)
	case algorithm.TierAllgather:
		return tierAllgather(x, root)
	case algorithm.TierAllreduce, algorithm.TierAllreduceLong:
		return tierAllreduce(x, root)
	case algorithm.TierBarrier:
		return tierBarrier(x, root)
	case algorithm.TierBcast, algorithm.TierBcastLong:
		return tierBcast(x, root)
	}
	return x.callErrorf(errs.Intern, "%v goes by no shared segment", x.alg)
}

// tellDone tells the others that this rank has done with the calls before one, whose number is v.
func (x *Call) tellDone(v uint64) {
	if sh := &x.st.shared; sh.told < v {
		sh.told = v
		x.rouse(sh.b.SetDone(v))
	}
}

// setWord sets a word of this rank on the shared segment, but for Done, and wakes those that wait for it.
func (x *Call) setWord(word *atomic.Uint64, v uint64) {
	x.rouse(x.st.shared.b.Set(word, v))
}

// publishPlace shows all ranks what lies in a place of this one: n bytes, of chunk i of the call.
func (x *Call) publishPlace(p shmcoll.Slot, i uint64, n int) {
	x.rouse(x.st.shared.b.Publish(p, shmcoll.Seq(x.call, i), shmcoll.About(x.tag, n), x.seal))
}

// rouse tells ranks that may be asleep, mostly none, that the shared segment has changed.
func (x *Call) rouse(asleep uint64) {
	if asleep != 0 {
		x.notifyEach(asleep)
	}
}

func (x *Call) notifyEach(asleep uint64) {
	for i, r := range x.st.shared.ranks {
		if asleep>>i&1 != 0 {
			x.notify(r, notice.Shm, 0, "")
		}
	}
}

// came waits for chunk i of a rank, which has n bytes, and gives them.
func (x *Call) came(peer int, p shmcoll.Slot, i uint64, n int) ([]byte, error) {
	seq := shmcoll.Seq(x.call, i)
	if err := x.awaitWord(p.Seq(), seq, peer, shmcoll.AwaitsData); err != nil {
		return nil, err
	}
	if err := x.expects(peer, p, seq, n); err != nil {
		return nil, err
	}
	return p.Bytes(n), nil
}

// expects compares what has come to a place with what the call expects of peer.
func (x *Call) expects(peer int, p shmcoll.Slot, seq uint64, n int) error {
	if p.Seq().Load() != seq || p.About() != shmcoll.About(x.tag, n) || p.Seal() != x.seal {
		return x.odd(peer, p, seq, n)
	}
	return nil
}

// odd is the error for a contribution that is not what the call expects.
func (x *Call) odd(peer int, p shmcoll.Slot, seq uint64, n int) error {
	about, seal := p.About(), p.Seal()
	peer = x.st.shared.ranks[peer]
	switch {
	case shmcoll.Tag(about) != x.tag:
		return x.mismatch(peer, shmcoll.Tag(about))
	case p.Seq().Load() != seq:
		return x.callErrorf(sentinel.ErrMismatch, "rank %d has gone past this call", peer)
	case shmcoll.Len(about) != n:
		return x.callErrorf(sentinel.ErrCount, "rank %d sent %d bytes, %d were expected", peer, shmcoll.Len(about), n)
	case seal == 0 || x.seal == 0: // one of the two ranks goes on after a failure
		return nil
	case uint32(seal) != uint32(x.seal):
		return x.callErrorf(sentinel.ErrMismatch, "a call before this one was another on rank %d", peer)
	case !algorithm.SameTypes(seal>>32, x.seal>>32):
		return x.callErrorf(sentinel.ErrElements, "here, or in a call before this one, rank %d has others", peer)
	}
	return nil
}

// awaitWord waits until a word that peer sets has got to want. on says which kind of word that is.
func (x *Call) awaitWord(word *atomic.Uint64, want uint64, peer int, on shmcoll.Awaited) error {
	if word.Load() >= want {
		return nil
	}
	return x.awaitUntil(peer, func() bool { return word.Load() >= want }, on)
}

// awaitUntil waits until over reports true, for which peer among others has to set a word. on says which kind of
// word.
func (x *Call) awaitUntil(peer int, over func() bool, on shmcoll.Awaited) error {
	if over() {
		return nil
	}
	if x.st.waits != nil {
		defer x.timeWait(peer)()
	}
	if x.st.Server.LingerUntil(over, x.alarm) {
		return nil
	}
	return x.sleepUntil(peer, over, on)
}

// timeWait shows a wait for peer in the timeline, until the function that it returns is called.
func (x *Call) timeWait(peer int) func() {
	since := x.st.waits.Begin()
	return func() { x.st.waits.End(x.kind, since, int(x.st.Peers[x.st.shared.ranks[peer]]), -1) }
}

// sleepUntil is the rest of a wait that lasts. A receive from peer, for which no message comes, tells of the end of
// peer and of the communicator.
func (x *Call) sleepUntil(peer int, over func() bool, on shmcoll.Awaited) error {
	sh := &x.st.shared
	sleepers, bit := sh.b.Sleepers(on), uint64(1)<<sh.me
	peer = sh.ranks[peer]
	r, err := x.st.Server.Irecv(x.st.Context, int(x.st.Peers[peer]), x.tag, nil, &comm.Options{Endable: true})
	if err != nil {
		return x.view.comm.OpError(x.kind, err)
	}
	// Others set their words and then look for sleepers, with no barrier between where this one stands in for it.
	sleepers.Or(bit)
	futex.Membarrier()
	x.peer, x.from = peer, peer
	err = x.awaitLong(r, over)
	sleepers.And(^bit)
	if err != nil || over() {
		x.dropReq(r)
		return err
	}
	if _, err = x.st.Server.Wait(r); err == nil {
		return x.callErrorf(sentinel.ErrMismatch, "rank %d has sent a message", peer)
	}
	return x.waitError(peer, x.view.comm.Cause(err))
}

// waitError is the error of a call that needs a rank, and err is why it does not get what it waits for.
func (x *Call) waitError(rank int, err error) error {
	return fmt.Errorf("mpi: %s, call %d: %s waits for rank %d: %w", x.kind, x.call, x.view.comm.Who(), rank, err)
}

// allDone waits until all ranks have done with the calls before one, whose number is v.
func (x *Call) allDone(v uint64) error {
	sh := &x.st.shared
	if sh.seen >= v {
		return nil
	}
	least := ^uint64(0)
	for r := range sh.ranks {
		if r == sh.me {
			continue
		}
		word := sh.b.Done(r)
		if err := x.awaitWord(word, v, r, shmcoll.AwaitsDone); err != nil {
			return err
		}
		least = min(least, word.Load())
	}
	sh.seen = least
	return nil
}

// byMessages is what the choices of this file give where a call does not go through the shared segment. The algorithm
// differs where what lies on the shared segment does: ranks that disagree about a length, and look for each other's
// bytes in different places, then find that out.
const byMessages = algorithm.Algorithm(0)
