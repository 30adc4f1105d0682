package events

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

// Conclude ends a transfer of rank src into this rank. ref is what the answer names; 0: src does not want any.
func (rt *Rank) Conclude(k *Cascade, src int, ref uint64, finish event.ID, why *event.Poison) {
	asked := uint64(0)
	switch finish.EventRank() {
	case rt.Self:
		k.TriggerOwn(finish, rt.Self, why)
	case src:
		asked, _ = k.Assume(finish, why)
	default:
		rt.askTrigger(finish, why)
	}
	if ref != 0 {
		rt.PostPoison(src, HDone, BytesOfPoison(why), ref, asked)
	}
}

// askTrigger has the owner of e, another rank, trigger it. This rank is told like others.
func (rt *Rank) askTrigger(e event.ID, why *event.Poison) {
	rt.PostPoison(e.EventRank(), HTrigger, BytesOfPoison(why), uint64(e))
}

// Concluded notes that the peer has ended the transfer o. asked: it has subscribed to the finish event before.
func (k *Cascade) Concluded(o *Outgoing, why *event.Poison, asked bool) {
	if o.Finish == 0 || !k.Rank.Owns(o.Finish) {
		return
	}
	by := Nobody
	if asked {
		by = o.Peer
		k.Rank.Events.expectSubscription(o.Finish, by)
	}
	k.TriggerOwn(o.Finish, by, why)
}

// mourned: the peer has died, and has not ended the transfer o as far as this rank knows.
func (k *Cascade) mourned(o *Outgoing, why *event.Poison) {
	switch {
	case o.Finish == 0 || o.Finish.EventRank() == o.Peer:
	case k.Rank.Owns(o.Finish):
		k.TriggerOwn(o.Finish, k.Rank.Self, why)
	default:
		k.Rank.askTrigger(o.Finish, why)
	}
}

// Fetch gets the bytes of a transfer out of the memory of its source.
type Fetch struct {
	am.Bulk
	Rank *Rank
	Src  int
	Over func(k *Cascade, why *event.Poison)
}

// Fetch begins to fill mem with the bytes of rank src under a key. Nobody sends a message meanwhile, so it counts as
// one of this rank.
func (rt *Rank) Fetch(src int, key conduit.Key, mem []byte, over func(k *Cascade, why *event.Poison)) {
	f := &Fetch{Bulk: am.Bulk{Data: mem, Key: key, Get: true}, Rank: rt, Src: src, Over: over}
	f.Owner = f
	rt.Peers.PeerOf(src).Sent.Add(1)
	rt.Endpoint.PutBulk(src, &f.Bulk)
}

// Sent implements am.BulkOwner.
func (f *Fetch) Sent(w *fult.Worker) { f.endFetch(nil, w) }

// Fail implements am.BulkOwner. The death of the source may become known here first.
func (f *Fetch) Fail(err error, w *fult.Worker) {
	why := f.Rank.FaultPoison(err)
	if errors.Is(err, fault.ErrPeer) && !errors.Is(err, conduit.ErrKey) {
		why = DeathPoison(f.Src, err)
	}
	f.endFetch(why, w)
}

func (f *Fetch) endFetch(why *event.Poison, w *fult.Worker) {
	k := f.Rank.BeginCascade(w)
	f.Over(k, why)
	k.EndCascade(PollBudget)
	f.Rank.Peers.PeerOf(f.Src).Received.Add(1)
}

func BytesOfPoison(why *event.Poison) []byte {
	if why == nil {
		return nil
	}
	return why.Append(nil)
}
