package realm

import (
	"errors"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// The end of a transfer. The rank of the destination is the first to know that the bytes are in place, so it has the
// finish event triggered: what waits there goes on at once. The rank of the source hears of it as well. If the
// destination dies before, the source has the event poisoned. Only the owner decides which of the two came first:
//
//	owner         bytes in place                     destination dies
//	source        trigger here; the answer says so   the source poisons it
//	destination   trigger here                       nobody is left to be told
//	third rank    it is asked to trigger             the source asks it to poison
//
// The third rank also poisons the event if the source dies. So the destination must not tell its own waiters then.

// conclude ends a transfer of rank src into this rank. ref is what the answer names; 0: src does not want any.
func (rt *rankEvents) conclude(k *cascade, src int, ref uint64, finish event.ID, why *event.Poison) {
	asked := uint64(0)
	switch finish.EventRank() {
	case rt.rank:
		k.triggerOwn(finish, rt.rank, why)
	case src:
		asked, _ = k.assume(finish, why)
	default:
		rt.askTrigger(finish, why)
	}
	if ref != 0 {
		rt.postPoison(src, hDone, bytesOfPoison(why), ref, asked)
	}
}

// askTrigger has the owner of e, another rank, trigger it. This rank is told like others.
func (rt *rankEvents) askTrigger(e event.ID, why *event.Poison) {
	rt.postPoison(e.EventRank(), hTrigger, bytesOfPoison(why), uint64(e))
}

// concluded: the peer has ended the transfer o. asked: it has subscribed to the finish event before.
func (k *cascade) concluded(o *outgoing, why *event.Poison, asked bool) {
	if o.finish == 0 || !k.rt.owns(o.finish) {
		return
	}
	by := nobody
	if asked {
		by = o.peer
		k.rt.events.expectSubscription(o.finish, by)
	}
	k.triggerOwn(o.finish, by, why)
}

// mourned: the peer has died, and has not ended the transfer o as far as this rank knows.
func (k *cascade) mourned(o *outgoing, why *event.Poison) {
	switch {
	case o.finish == 0 || o.finish.EventRank() == o.peer:
	case k.rt.owns(o.finish):
		k.triggerOwn(o.finish, k.rt.rank, why)
	default:
		k.rt.askTrigger(o.finish, why)
	}
}

// fetch gets the bytes of a transfer out of the memory of its source.
type fetch struct {
	am.Bulk
	rt   *rankEvents
	src  int
	over func(k *cascade, why *event.Poison)
}

// fetch begins to fill mem with the bytes of rank src under a key. Nobody sends a message meanwhile, so it counts as
// one of this rank.
func (rt *rankEvents) fetch(src int, key conduit.Key, mem []byte, over func(k *cascade, why *event.Poison)) {
	f := &fetch{Bulk: am.Bulk{Data: mem, Key: key, Get: true}, rt: rt, src: src, over: over}
	f.Owner = f
	rt.peers.peerOf(src).sent.Add(1)
	rt.ep.PutBulk(src, &f.Bulk)
}

// Sent implements am.BulkOwner.
func (f *fetch) Sent(w *fult.Worker) { f.endFetch(nil, w) }

// Fail implements am.BulkOwner. The death of the source may become known here first.
func (f *fetch) Fail(err error, w *fult.Worker) {
	why := f.rt.faultPoison(err)
	if errors.Is(err, fault.ErrPeer) && !errors.Is(err, conduit.ErrKey) {
		why = deathPoison(f.src, err)
	}
	f.endFetch(why, w)
}

func (f *fetch) endFetch(why *event.Poison, w *fult.Worker) {
	k := f.rt.beginCascade(w)
	f.over(k, why)
	k.endCascade(pollBudget)
	f.rt.peers.peerOf(f.src).received.Add(1)
}

func bytesOfPoison(why *event.Poison) []byte {
	if why == nil {
		return nil
	}
	return why.Append(nil)
}
