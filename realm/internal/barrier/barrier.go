package barrier

import (
	"fmt"
	"slices"

	"github.com/golci/golci/realm/internal/event"
)

// Op reduces the values of the arrivals at a phase. It is associative and commutative: the order is not determined.
type Op interface {
	// Fold adds value to sum. Both have the size of the barrier's values. An error poisons the phase.
	Fold(sum, value []byte) error
}

// Config is what all ranks know of a barrier.
type Config struct {
	Self int32                  // this rank
	ID   event.ID               // names the barrier; its generation does not count
	Ops  func(number uint32) Op // finds an operator; nil if there is none of that number
	Size int                    // ranks of the job
	// Dead is why a rank has died, if Died was called for it, or would have been; nil if it lives.
	Dead func(rank int32) *event.Poison
	// Misuse is the Errors of a poison for a mistake of the program.
	Misuse uint32
	// Steps, if it is not nil, counts the phases that are looked at.
	Steps *int
}

// Barrier is what one rank has of a barrier.
type Barrier struct {
	Config
	own   *owner // nil on other ranks
	owner int32  // the last one that this rank knows of
	giver int32  // the one before
	epoch uint64 // number of that ownership; the first is 1

	known  uint64 // last phase whose trigger this rank has delivered
	newest uint64 // last phase that this rank has heard of or named
	bad    uint64 // last poisoned phase up to known
	last   records
	waits  []wait // by phase; phases that are over are those with an unknown poison or result

	seq     uint64    // of the last alteration of this rank
	pending []Message // arrivals that Flush sends
	waited  uint64    // last phase that somebody on this rank has waited for

	members ranks         // of an owner, also a former one: who has sent it something, or is expected to
	parts   [][]byte      // of the state, before this rank becomes the owner
	early   []Message     // which came before that
	failed  *event.Poison // of all phases from failFrom on; nil if the barrier has not failed
	from    uint64
	orphan  bool // nobody can tell of the phases before from
	ended   bool // it has been destroyed, and has failed; what this rank waits for will be answered
	owned   bool // this rank is or has been the owner
}

// wait is a phase that this rank waits for.
type wait struct {
	num   uint64
	list  event.List
	asked bool     // the owner, by a subscription
	held  *Message // its trigger, which waits for those of earlier phases
}

// New makes a barrier on its first owner. Each phase expects count arrivals. The values have size bytes, at most
// maxValue, and are reduced by the operator with that number; size 0 is for no values.
func New(c Config, count int64, op uint32, size int) (*Barrier, error) {
	w := &owner{count: count, opNumber: op, size: size}
	switch {
	case count < 1 || count > maxCount:
		return nil, fmt.Errorf("a barrier that expects %d arrivals, not 1 to %d", count, int64(maxCount))
	case size < 0 || size > maxValue:
		return nil, fmt.Errorf("values of %d bytes, more than %d", size, maxValue)
	case size > 0:
		if w.op = c.Ops(op); w.op == nil {
			return nil, fmt.Errorf("there is no reduction operator %d", op)
		}
	}
	b := &Barrier{Config: c, own: w, owner: c.Self, giver: c.Self, epoch: 1, owned: true}
	w.open = append(w.open, phase{num: 1, expected: count})
	return b, nil
}

// NewReplica makes what a rank has of a barrier that another rank has made.
func NewReplica(c Config) *Barrier {
	b := &Barrier{Config: c, owner: int32(c.ID.Rank()), giver: int32(c.ID.Rank()), epoch: 1}
	if why := c.Dead(b.owner); why != nil {
		b.lose(why, &Out{})
	}
	return b
}

// Expect has the barrier fail when a rank dies, even if the owner has never heard of that rank. The first owner calls
// it before others know the barrier.
func (b *Barrier) Expect(rank int32, o *Out) {
	if rank == b.Self {
		return
	}
	b.members.addRank(rank)
	if why := b.Dead(rank); why != nil {
		b.failPhases(why, o)
	}
}

// Known is the last phase that this rank knows to have triggered; 0 if none has.
func (b *Barrier) Known() uint64 { return b.known }

// Read is the phase that an ID with a generation means on this rank. Of all phases with that generation it is the one
// nearest to the newest phase that this rank has heard of or named: at most half a window of 2^20 phases ahead, and
// less than half a window back. A rank that has heard nothing for longer may misread an ID. The owner refuses to say
// anything of the phase that this rank asks for then, as maxAhead and maxBehind say.
func (b *Barrier) Read(gen uint32) uint64 { return nearest(gen, b.newest) }

// saw notes a phase that a user or a message has named.
func (b *Barrier) saw(phase uint64) { b.newest = max(b.newest, phase) }

func (b *Barrier) checkHandle(h Handle) error {
	if h.Phase == 0 || h.Phase > maxPhase || h.Stamp != 0 && h.Stamp.n() == 0 {
		return fmt.Errorf("%v: no handle has phase %d and alteration %#x", b.Name(), h.Phase, uint64(h.Stamp))
	}
	return nil
}

// Name names the barrier, for people.
func (b *Barrier) Name() string { return fmt.Sprintf("barrier %d.%d", b.ID.Rank(), b.ID.Index()) }

// Arrive makes count arrivals at the phase of h. value is nil or one value for all of them. If poison is not nil they
// poison the phase: it triggers when all have arrived, and then is poisoned. Arrive returns an error, and has done
// nothing, if the phase has triggered or expects fewer arrivals, as far as this rank knows. The owner may know more,
// and has the barrier fail then. Arrivals at a barrier that has failed have no effect.
func (b *Barrier) Arrive(h Handle, count int64, value []byte, poison *event.Poison, o *Out) error {
	if w := b.own; w != nil && uint64(h.Stamp)|b.seq == 0 && value == nil && poison == nil && b.failed == nil {
		p := &w.open[0] // that is most arrivals: at the present phase, and not the last
		if p.num == h.Phase && count > 0 && count < p.expected-p.arrived {
			p.arrived += count
			w.vote(b.Self, count)
			return nil
		}
	}
	return b.arrive(h, count, value, poison, o)
}

// Check returns an error for arrivals that no barrier takes. It needs no lock.
func (b *Barrier) Check(h Handle, count int64) error {
	if err := b.checkHandle(h); err != nil {
		return err
	}
	if count < 1 || count > maxCount {
		return fmt.Errorf("%v: %d arrivals, not 1 to %d", b.Name(), count, int64(maxCount))
	}
	return nil
}

func (b *Barrier) arrive(h Handle, count int64, value []byte, poison *event.Poison, o *Out) error {
	err := b.Check(h, count)
	switch {
	case err != nil:
		return err
	case len(value) > maxValue, b.own != nil && len(value) > 0 && len(value) != b.own.size:
		return fmt.Errorf("%v: a value of %d bytes, the most is %d, and the value of all arrivals has one size",
			b.Name(), len(value), maxValue)
	case b.ended:
		return b.endedError()
	case b.failed != nil && h.Phase >= b.from:
		return nil
	case h.Phase <= b.known:
		return b.isOver(h.Phase)
	}
	b.saw(h.Phase)
	m := Message{
		Kind: Arrival, From: b.Self, Phase: h.Phase, Count: count, Stamp: h.Stamp, Own: b.seq, Value: value,
		Poison: poison,
	}
	if b.own != nil {
		return b.arrival(&m, o)
	}
	b.joinFlush(m)
	o.Dirty = true
	return nil
}

func (b *Barrier) isOver(phase uint64) error {
	return fmt.Errorf("%v: phase %d has triggered: %d is the last that has", b.Name(), phase, b.known)
}

// joinFlush adds an arrival to those that wait for Flush.
func (b *Barrier) joinFlush(m Message) {
	for i := range b.pending {
		p := &b.pending[i]
		if p.Phase == m.Phase && p.Stamp == m.Stamp &&
			len(p.Value)+len(m.Value) <= maxValues && p.Count+m.Count <= maxCount {
			p.Count += m.Count
			p.Value = append(p.Value, m.Value...)
			p.Poison = p.Poison.Join(m.Poison)
			return
		}
	}
	m.Value = slices.Clone(m.Value)
	b.pending = append(b.pending, m)
}

// Alter has the phase of h expect delta arrivals more, or fewer if delta is negative. No other phase changes. Arrivals
// with the handle that it returns, and all later ones of this rank, count after it, whatever way they take. The phase
// must not be able to trigger before: so an arrival at it that has been expected must be yet to come. After an error of
// the owner the barrier has failed.
func (b *Barrier) Alter(h Handle, delta int64, o *Out) (Handle, error) {
	err := b.checkHandle(h)
	switch {
	case err != nil:
		return h, err
	case delta < -maxCount || delta > maxCount:
		return h, fmt.Errorf("%v: altered by %d, more than %d", b.Name(), delta, int64(maxCount))
	case b.ended:
		return h, b.endedError()
	case b.failed != nil && h.Phase >= b.from:
		return h, nil
	case h.Phase <= b.known:
		return h, b.isOver(h.Phase)
	}
	b.saw(h.Phase)
	b.seq++
	m := Message{Kind: Alteration, From: b.Self, Phase: h.Phase, Count: delta, Stamp: h.Stamp, Own: b.seq}
	h.Stamp = makeStamp(b.Self, b.seq)
	if b.own != nil {
		if err = b.alteration(&m, o); err != nil {
			b.failPhases(b.misuse(b.Self, err), o)
		}
		return h, err
	}
	b.toOwner(m, o)
	return h, nil
}

// toOwner sends a message to the owner as this rank knows it.
func (b *Barrier) toOwner(m Message, o *Out) {
	m.To, m.Epoch, m.Giver = b.owner, b.epoch, b.giver
	o.sendMessage(m)
}

// Flush sends the arrivals and subscriptions that have been made since the last call.
func (b *Barrier) Flush(o *Out) {
	for _, m := range b.pending {
		if m.Own = b.seq; b.joins(m.Phase) {
			m.Flags |= subscribes
		}
		b.toOwner(m, o)
	}
	clear(b.pending)
	b.pending = b.pending[:0]
	if b.own != nil {
		return
	}
	for i := range b.waits {
		if w := &b.waits[i]; !w.asked {
			w.asked = true
			b.toOwner(Message{Kind: Subscription, From: b.Self, Phase: w.num}, o)
		}
	}
}

// joins tells whether an arrival at a phase is to be a subscription, too: somebody waits, or has waited for the phase
// before, and so is likely to wait for this one.
func (b *Barrier) joins(phase uint64) bool {
	w := b.waitFor(phase)
	if w == nil && b.waited > 0 && b.waited+1 == phase && phase > b.known {
		w = b.beginWait(phase)
	}
	if w == nil || w.asked {
		return false
	}
	w.asked = true
	return true
}

// Move has rank to become the owner, if it lives and the barrier has not failed.
func (b *Barrier) Move(to int32, o *Out) {
	if b.own != nil {
		b.moveTo(to, o)
		return
	}
	b.toOwner(Message{Kind: Request, From: b.Self, Owner: to}, o)
}

// Fault has the barrier fail.
func (b *Barrier) Fault(why *event.Poison, o *Out) {
	switch {
	case b.ended:
		return
	case b.own != nil:
		b.failPhases(why, o)
		return
	}
	b.toOwner(Message{Kind: Fault, From: b.Self, Poison: why}, o)
}
