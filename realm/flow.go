package realm

import (
	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// Data travel in two ways. A parcel is a message of any length: one Medium, or an offer, a go-ahead of the receiver,
// who has made room, and a Bulk. The bytes of a copy take the second way too, but are unpacked piece by piece.

// outgoing is something that another rank is to answer. Its number travels.
type outgoing struct {
	peer   int
	finish event.ID                            // of a transfer, which the peer ends; 0: it is none
	ahead  func(number, in uint64)             // the peer has made room: number is that of o, in that of its incoming
	body   func(k *cascade, b []byte) error    // the peer has sent an answer of some bytes
	done   func(k *cascade, why *event.Poison) // the last call: the peer is done, or has died
}

// await gives o a number. It is called before the message leaves. If the peer has died, o is done at once.
func (rt *rankEvents) expectAnswer(k *cascade, o *outgoing) (number uint64, ok bool) {
	number = rt.outs.Add(o)
	if rt.ep.Gone(o.peer) { // set before flowsGone looks at outs
		rt.settleCall(k, number, rt.deathOf(o.peer))
		return 0, false
	}
	return number, true
}

// settleCall ends what has that number, because its peer has died.
func (rt *rankEvents) settleCall(k *cascade, number uint64, why *event.Poison) {
	if o := rt.outs.Remove(number); o != nil {
		k.mourned(o, why)
		o.done(k, why)
	}
}

// incoming is bytes that another rank sends by bulk.
type incoming struct {
	src    int
	left   int64 // bytes that are missing; the poller's
	unpack func(b []byte, off int)
	done   func(k *cascade)
}

// parcelKind says what a parcel is.
type parcelKind uint64

const (
	parcelJob    parcelKind = iota // a job for the receiver
	parcelAsk                      // the number of an instance, to be described
	parcelLayout                   // the description
	parcelPut                      // the destination, form and bytes of a small copy
	parcelOpen                     // the destination and form of a large one
	parcelReduce                   // reductions into an instance
	parcelSpawn                    // a task with long arguments
	parcelPoison                   // a message with a long poison
	parcelKinds
)

// parcelFunc handles parcels of one kind.
type parcelFunc func(k *cascade, src int, ref uint64, b []byte) error

// maxParcel is what a parcel has at most.
const maxParcel = 1 << 31

// fitsParcel is an error for n bytes that are too many for a parcel.
func (rt *rankEvents) fitsParcel(what string, peer, n int) error {
	if n > maxParcel {
		return rt.callErrorf(what, "%w: %d bytes for rank %d, the most is %d", fault.ErrSize, n, peer, maxParcel)
	}
	return nil
}

// sendParcel sends b, which does not change any more. ref is the number of the outgoing that an answer names, or 0.
func (rt *rankEvents) sendParcel(k *cascade, peer int, kind parcelKind, ref uint64, b []byte) {
	if len(b) <= rt.ep.MaxMedium() {
		rt.postMessage(peer, hParcel, b, uint64(kind), ref)
		return
	}
	o := &outgoing{peer: peer, done: func(*cascade, *event.Poison) {}}
	o.ahead = func(number, in uint64) {
		rt.outs.Remove(number)
		rt.putBulk(peer, &am.Bulk{ID: in, Channel: bulkChannel, Data: b})
	}
	if number, ok := rt.expectAnswer(k, o); ok {
		rt.postMessage(peer, hOffer, nil, uint64(kind), ref, uint64(len(b)), number)
	}
}

// putBulk sends b. Both ends count it as a message.
func (rt *rankEvents) putBulk(peer int, b *am.Bulk) {
	rt.peers.peerOf(peer).sent.Add(1)
	b.Owner = bulkOwner{}
	rt.ep.PutBulk(peer, b)
}

// bulkOwner has nothing to do: the receiver tells when the bytes are there, and a death is told by flowsGone.
type bulkOwner struct{}

func (bulkOwner) Sent(*fult.Worker)        {}
func (bulkOwner) Fail(error, *fult.Worker) {}

// receiveBytes makes room for n bytes, more than none, and lets the sender go ahead.
func (rt *rankEvents) receiveBytes(src int, n int64, out uint64, unpack func(b []byte, off int), done func(k *cascade)) {
	in := rt.ins.Add(&incoming{src: src, left: n, unpack: unpack, done: done})
	if rt.ep.Gone(src) {
		rt.ins.Remove(in)
		return
	}
	rt.postMessage(src, hGo, nil, out, in)
}

// onBulk: a piece of a bulk has come.
func (rt *rankEvents) onBulk(src int, id uint64, off int64, chunk []byte, w *fult.Worker) {
	in := rt.ins.Get(id)
	if in == nil || in.src != src || int64(len(chunk)) > in.left {
		rt.fatal(rt.callErrorf("message", "rank %d sent %d bytes at %d that nobody waits for", src, len(chunk), off))
		return
	}
	in.unpack(chunk, int(off))
	if in.left -= int64(len(chunk)); in.left > 0 {
		return
	}
	rt.ins.Remove(id)
	k := rt.beginCascade(w)
	in.done(k)
	k.endCascade(pollBudget)
	rt.peers.peerOf(src).received.Add(1)
}

// onOffer: a parcel is too long for one message.
func (rt *rankEvents) onOffer(t *am.Token, args []uint64, _ []byte) {
	kind, ref, n, out := parcelKind(args[0]), args[1], args[2], args[3]
	if kind >= parcelKinds || n > maxParcel || n == 0 {
		rt.malformed(t, "the offer of a parcel for", event.ID(ref))
		return
	}
	src, b := t.Source(), make([]byte, n)
	rt.receiveBytes(src, int64(n), out, func(c []byte, off int) {
		if off >= 0 && off < len(b) {
			copy(b[off:], c)
		}
	}, func(k *cascade) {
		if err := rt.takeParcel(k, src, kind, ref, b); err != nil {
			rt.fatal(rt.callErrorf("message", "rank %d sent a malformed parcel: %w", src, err))
		}
	})
}

// onGo: a rank has made room.
func (rt *rankEvents) onGo(t *am.Token, args []uint64, _ []byte) {
	o := rt.outs.Get(args[0])
	if o == nil || o.peer != t.Source() || o.ahead == nil {
		rt.malformed(t, "room for", event.ID(args[0]))
		return
	}
	o.ahead(args[0], args[1])
}

// takeDone: a rank has done its part, or could not.
func (rt *rankEvents) takeDone(k *cascade, src int, args []uint64, payload []byte) error {
	why, err := poisonIn(payload)
	o := rt.outs.Get(args[0])
	if err != nil || o == nil || o.peer != src || rt.outs.Remove(args[0]) != o {
		return rt.impossible(src, "the end of", event.ID(args[0]))
	}
	k.concluded(o, why, args[1] != 0)
	o.done(k, why)
	return nil
}

// poisonIn is the poison that a message carries; nil if its payload is empty.
func poisonIn(payload []byte) (why *event.Poison, err error) {
	if len(payload) > 0 {
		why, _, err = event.ParsePoison(payload)
	}
	return why, err
}

// tellDone is the answer to what has number ref at peer, and is no transfer.
func (rt *rankEvents) tellDone(peer int, ref uint64, err error) {
	rt.postPoison(peer, hDone, bytesOfPoison(rt.poisonOf(err)), ref, 0)
}

// poisonOf is the poison for a fault of this rank, nil without one.
func (rt *rankEvents) poisonOf(err error) *event.Poison {
	if err == nil {
		return nil
	}
	return rt.faultPoison(err)
}

// onParcel: a short parcel has come.
func (rt *rankEvents) onParcel(t *am.Token, args []uint64, payload []byte) {
	k := rt.beginCascade(t.Worker())
	err := rt.takeParcel(k, t.Source(), parcelKind(args[0]), args[1], payload)
	k.endCascade(pollBudget)
	if err != nil {
		rt.fatal(rt.callErrorf("message", "rank %d sent a malformed parcel: %w", t.Source(), err))
	}
}

// takeParcel handles a parcel. b may be in the receive space, and is valid until it returns.
func (rt *rankEvents) takeParcel(k *cascade, src int, kind parcelKind, ref uint64, b []byte) error {
	if kind >= parcelKinds {
		return fault.ErrMalformed
	}
	return rt.parcels[kind](k, src, ref, b)
}

// takeAnswer takes the answer to an outgoing that has some bytes.
func (rt *rankEvents) takeAnswer(k *cascade, src int, ref uint64, b []byte) error {
	o := rt.outs.Get(ref)
	if o == nil || o.peer != src || o.body == nil {
		return fault.ErrMalformed
	}
	rt.outs.Remove(ref)
	return o.body(k, b)
}

// flowsGone ends what waits for a rank that has died. It runs in a poll.
func (rt *rankEvents) flowsGone(k *cascade, rank int, why *event.Poison) {
	var outs, ins []uint64
	rt.outs.Each(func(n uint64, o *outgoing) {
		if o.peer == rank {
			outs = append(outs, n)
		}
	})
	rt.ins.Each(func(n uint64, in *incoming) {
		if in.src == rank {
			ins = append(ins, n)
		}
	})
	for _, n := range outs {
		rt.settleCall(k, n, why)
	}
	for _, n := range ins {
		rt.ins.Remove(n)
	}
}
