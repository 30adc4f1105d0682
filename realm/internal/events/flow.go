package events

import (
	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// Data travel in two ways. A parcel is a message of any length: one Medium, or an offer, a go-ahead of the receiver,
// who has made room, and a Bulk. The bytes of a copy take the second way too, but are unpacked piece by piece.

// Outgoing is something that another rank is to answer. Its number travels.
type Outgoing struct {
	Peer   int
	Finish event.ID                            // of a transfer, which the peer ends; 0: it is none
	Ahead  func(number, in uint64)             // the peer has made room: number is that of o, in that of its incoming
	Body   func(k *Cascade, b []byte) error    // the peer has sent an answer of some bytes
	Done   func(k *Cascade, why *event.Poison) // the last call: the peer is done, or has died
}

// ExpectAnswer gives o a number. It is called before the message leaves. If the peer has died, o is done at once.
func (rt *Rank) ExpectAnswer(k *Cascade, o *Outgoing) (number uint64, ok bool) {
	number = rt.Outs.Add(o)
	if rt.Endpoint.Gone(o.Peer) { // set before FlowsGone looks at outs
		rt.settleCall(k, number, rt.DeathOf(o.Peer))
		return 0, false
	}
	return number, true
}

// settleCall ends what has that number, because its peer has died.
func (rt *Rank) settleCall(k *Cascade, number uint64, why *event.Poison) {
	if o := rt.Outs.Remove(number); o != nil {
		k.mourned(o, why)
		o.Done(k, why)
	}
}

// Incoming is bytes that another rank sends by bulk.
type Incoming struct {
	Src    int
	Left   int64 // bytes that are missing; the poller's
	unpack func(b []byte, off int)
	done   func(k *Cascade)
}

// parcelKind says what a parcel is.
type parcelKind uint64

const (
	ParcelJob    parcelKind = iota // a job for the receiver
	ParcelAsk                      // the number of an instance, to be described
	ParcelLayout                   // the description
	ParcelPut                      // the destination, form and bytes of a small copy
	ParcelOpen                     // the destination and form of a large one
	ParcelReduce                   // reductions into an instance
	ParcelSpawn                    // a task with long arguments
	ParcelPoison                   // a message with a long poison
	ParcelKinds
)

// ParcelFunc handles parcels of one kind.
type ParcelFunc func(k *Cascade, src int, ref uint64, b []byte) error

// maxParcel is what a parcel has at most.
const maxParcel = 1 << 31

// FitsParcel is an error for n bytes that are too many for a parcel.
func (rt *Rank) FitsParcel(what string, peer, n int) error {
	if n > maxParcel {
		return rt.CallErrorf(what, "%w: %d bytes for rank %d, the most is %d", fault.ErrSize, n, peer, maxParcel)
	}
	return nil
}

// SendParcel sends b, which does not change any more. ref is the number of the outgoing that an answer names, or 0.
func (rt *Rank) SendParcel(k *Cascade, peer int, kind parcelKind, ref uint64, b []byte) {
	if len(b) <= rt.Endpoint.MaxMedium() {
		rt.PostMessage(peer, HParcel, b, uint64(kind), ref)
		return
	}
	o := &Outgoing{Peer: peer, Done: func(*Cascade, *event.Poison) {}}
	o.Ahead = func(number, in uint64) {
		rt.Outs.Remove(number)
		rt.PutBulk(peer, &am.Bulk{ID: in, Channel: BulkChannel, Data: b})
	}
	if number, ok := rt.ExpectAnswer(k, o); ok {
		rt.PostMessage(peer, HOffer, nil, uint64(kind), ref, uint64(len(b)), number)
	}
}

// PutBulk sends b. Both ends count it as a message.
func (rt *Rank) PutBulk(peer int, b *am.Bulk) {
	rt.Peers.PeerOf(peer).Sent.Add(1)
	b.Owner = bulkOwner{}
	rt.Endpoint.PutBulk(peer, b)
}

// bulkOwner has nothing to do: the receiver tells when the bytes are there, and a death is told by FlowsGone.
type bulkOwner struct{}

func (bulkOwner) Sent(*fult.Worker)        {}
func (bulkOwner) Fail(error, *fult.Worker) {}

// ReceiveBytes makes room for n bytes, more than none, and lets the sender go ahead.
func (rt *Rank) ReceiveBytes(src int, n int64, out uint64, unpack func(b []byte, off int), done func(k *Cascade)) {
	in := rt.Ins.Add(&Incoming{Src: src, Left: n, unpack: unpack, done: done})
	if rt.Endpoint.Gone(src) {
		rt.Ins.Remove(in)
		return
	}
	rt.PostMessage(src, HGo, nil, out, in)
}

// OnBulk: a piece of a bulk has come.
func (rt *Rank) OnBulk(src int, id uint64, off int64, chunk []byte, w *fult.Worker) {
	in := rt.Ins.Get(id)
	if in == nil || in.Src != src || int64(len(chunk)) > in.Left {
		rt.Fatal(rt.CallErrorf("message", "rank %d sent %d bytes at %d that nobody waits for", src, len(chunk), off))
		return
	}
	in.unpack(chunk, int(off))
	if in.Left -= int64(len(chunk)); in.Left > 0 {
		return
	}
	rt.Ins.Remove(id)
	k := rt.BeginCascade(w)
	in.done(k)
	k.EndCascade(PollBudget)
	rt.Peers.PeerOf(src).Received.Add(1)
}

// OnOffer: a parcel is too long for one message.
func (rt *Rank) OnOffer(t *am.Token, args []uint64, _ []byte) {
	kind, ref, n, out := parcelKind(args[0]), args[1], args[2], args[3]
	if kind >= ParcelKinds || n > maxParcel || n == 0 {
		rt.Malformed(t, "the offer of a parcel for", event.ID(ref))
		return
	}
	src, b := t.Source(), make([]byte, n)
	rt.ReceiveBytes(src, int64(n), out, func(c []byte, off int) {
		if off >= 0 && off < len(b) {
			copy(b[off:], c)
		}
	}, func(k *Cascade) {
		if err := rt.takeParcel(k, src, kind, ref, b); err != nil {
			rt.Fatal(rt.CallErrorf("message", "rank %d sent a malformed parcel: %w", src, err))
		}
	})
}

// OnGo: a rank has made room.
func (rt *Rank) OnGo(t *am.Token, args []uint64, _ []byte) {
	o := rt.Outs.Get(args[0])
	if o == nil || o.Peer != t.Source() || o.Ahead == nil {
		rt.Malformed(t, "room for", event.ID(args[0]))
		return
	}
	o.Ahead(args[0], args[1])
}

// TakeDone: a rank has done its part, or could not.
func (rt *Rank) TakeDone(k *Cascade, src int, args []uint64, payload []byte) error {
	why, err := PoisonIn(payload)
	o := rt.Outs.Get(args[0])
	if err != nil || o == nil || o.Peer != src || rt.Outs.Remove(args[0]) != o {
		return rt.Impossible(src, "the end of", event.ID(args[0]))
	}
	k.Concluded(o, why, args[1] != 0)
	o.Done(k, why)
	return nil
}

// PoisonIn is the poison that a message carries; nil if its payload is empty.
func PoisonIn(payload []byte) (why *event.Poison, err error) {
	if len(payload) > 0 {
		why, _, err = event.ParsePoison(payload)
	}
	return why, err
}

// TellDone is the answer to what has number ref at peer, and is no transfer.
func (rt *Rank) TellDone(peer int, ref uint64, err error) {
	rt.PostPoison(peer, HDone, BytesOfPoison(rt.PoisonOf(err)), ref, 0)
}

// PoisonOf is the poison for a fault of this rank, nil without one.
func (rt *Rank) PoisonOf(err error) *event.Poison {
	if err == nil {
		return nil
	}
	return rt.FaultPoison(err)
}

// OnParcel: a short parcel has come.
func (rt *Rank) OnParcel(t *am.Token, args []uint64, payload []byte) {
	k := rt.BeginCascade(t.Worker())
	err := rt.takeParcel(k, t.Source(), parcelKind(args[0]), args[1], payload)
	k.EndCascade(PollBudget)
	if err != nil {
		rt.Fatal(rt.CallErrorf("message", "rank %d sent a malformed parcel: %w", t.Source(), err))
	}
}

// takeParcel handles a parcel. b may be in the receive space, and is valid until it returns.
func (rt *Rank) takeParcel(k *Cascade, src int, kind parcelKind, ref uint64, b []byte) error {
	if kind >= ParcelKinds {
		return fault.ErrMalformed
	}
	return rt.Parcels[kind](k, src, ref, b)
}

// TakeAnswer takes the answer to an outgoing that has some bytes.
func (rt *Rank) TakeAnswer(k *Cascade, src int, ref uint64, b []byte) error {
	o := rt.Outs.Get(ref)
	if o == nil || o.Peer != src || o.Body == nil {
		return fault.ErrMalformed
	}
	rt.Outs.Remove(ref)
	return o.Body(k, b)
}

// FlowsGone ends what waits for a rank that has died. It runs in a poll.
func (rt *Rank) FlowsGone(k *Cascade, rank int, why *event.Poison) {
	var outs, ins []uint64
	rt.Outs.Each(func(n uint64, o *Outgoing) {
		if o.Peer == rank {
			outs = append(outs, n)
		}
	})
	rt.Ins.Each(func(n uint64, in *Incoming) {
		if in.Src == rank {
			ins = append(ins, n)
		}
	})
	for _, n := range outs {
		rt.settleCall(k, n, why)
	}
	for _, n := range ins {
		rt.Ins.Remove(n)
	}
}
