package barrier

import "fmt"

// Destroy ends the barrier. All phases that have not triggered are poisoned. The owner tells all ranks that it knows,
// and all of them may forget the barrier (Done). A trigger that is under way still counts. What comes to the owner
// later is refused, even a subscription to a phase that has triggered.
func (b *Barrier) Destroy(o *Out) {
	switch {
	case b.ended:
	case b.own != nil:
		b.destroy(o)
	case b.orphan: // there is nobody to tell
		b.ended = true
	default:
		b.toOwner(Message{Kind: End, From: b.Self}, o)
	}
}

// destroy is Destroy on the owner.
func (b *Barrier) destroy(o *Out) {
	if b.failed == nil {
		b.poisonFrom(b.known+1, b.misuse(b.Self, b.endedError()), o)
	}
	b.ended = true
	b.members.eachRank(func(r int32) { b.tellFailure(r, o) })
}

func (b *Barrier) endedError() error { return fmt.Errorf("%v: %s", b.Name(), Destroyed) }

// Done tells whether the rank may forget the barrier: it has been destroyed, and nobody here waits any more.
func (b *Barrier) Done() bool { return b.ended && len(b.waits) == 0 }

// Owned tells whether this rank is or has been the owner. Then others may send it messages for the owner after it has
// forgotten the barrier.
func (b *Barrier) Owned() bool { return b.owned }

// Why there is nothing of a barrier on a rank that knows why.
const (
	NotMade   = "there is no such barrier"
	Destroyed = "it was destroyed"
)

// Stray takes a message about a barrier of which the rank has nothing. ended says why, and is empty if the rank does
// not know. The result tells whether the rank is to make its part, which then takes the message.
func Stray(c Config, m *Message, ended string, o *Out) (make bool) {
	b := NewReplica(c)
	switch {
	case m.Kind == Trigger:
		b.passShare(m, o)
	case m.Kind == Failure:
		return ended == ""
	case m.Kind == Moved, m.Kind == Refusal:
	case ended == "":
		return true
	case m.From != c.Self: // it is for an owner, or for the next one
		b.failed, b.from = b.misuse(c.Self, fmt.Errorf("%v: %s", b.Name(), ended)), 1
		b.orphan, b.ended = true, true
		b.tellFailure(m.From, o)
	}
	return false
}
