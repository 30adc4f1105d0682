package reservation

import (
	"fmt"
	"slices"

	"github.com/golci/golci/realm/internal/event"
)

// Mode is how a lock is held: Exclusive, or any other number, which all holders have in common.
type Mode = uint32

// Exclusive is the mode of a single holder.
const Exclusive Mode = 0

// defaultTurns keeps a contended lock local for long enough that its moves cost little: 64 local grants take less time
// than two moves.
const defaultTurns = 64

// Config describes the lock of one rank.
type Config struct {
	ID      event.ID
	Self    int32
	Ranks   int     // of the job
	Carry   int     // how many ranks that wait fit a transfer
	Turns   int     // how many local waiters get the lock in a row while another rank waits; 0: 64
	Payload []byte  // this rank's copy; as long on all ranks
	Gone    []int32 // ranks that have died
	Died    uint32  // the Errors of a poison for the death of a rank
}

// Lock is what one rank knows of a reservation.
type Lock struct {
	idle        bool // this rank is the owner, nobody holds the lock, and nobody waits
	owned       bool // this rank is the owner
	mode        Mode // of the holders
	holders     uint32
	version     uint64 // of the payload: the number of exclusive grants
	queue       queue
	set         []Want // the owner's: other ranks that wait
	localGrants int    // local grants since the first of set waits, or since the lock came

	Config
	home       int32
	localHolds uint32 // grants by another rank, less releases here
	asked      bool   // this rank's request is under way or in a set
	unsure     int    // releases that have not been answered
	ending     Cause  // this rank has sent an End
	hint       Hint   // the latest owner, as far as known
	awaited    Hint   // the transfer to this rank of which others have told
	sharers    []Want // the owner's: grants on other ranks, less releases there
	kept       []Message
	dead       *event.Poison // why all is refused; nil if it is not
	cause      Cause         // the same
}

// Out is what a caller does after an input, once the lock is unguarded, except for the copying of slices in Send. It
// sends in that order.
type Out struct {
	Fire event.List // those that hold the lock now, or are refused: then their Poison is set
	Send []Message
	Err  error // a release on this rank was wrong
}

// New is the lock of rank Self. The rank that is named by the ID is the owner at first.
func New(c Config) *Lock {
	l := &Lock{Config: c, home: int32(c.ID.Rank())}
	l.Gone = slices.Clone(c.Gone)
	if l.Turns == 0 {
		l.Turns = defaultTurns
	}
	l.hint = Hint{Owner: l.home, Giver: l.home}
	l.owned = l.home == c.Self
	l.idle = l.owned
	if l.isLost(l.home) {
		l.die(Cause{HomeDied, l.home}, &Out{})
	}
	return l
}

// Try takes the lock if that needs neither waiting nor another rank.
func (l *Lock) Try(m Mode) bool {
	if l.idle {
		l.idle = false
		l.takeFree(m, 1)
		return true
	}
	return l.joinHolders(m, 1)
}

// takeFree: nobody holds the lock; now n do.
func (l *Lock) takeFree(m Mode, n uint32) {
	l.mode, l.holders = m, n
	if m == Exclusive {
		l.version++
	}
}

// joinHolders adds n holders to those of the same mode, unless somebody waits.
func (l *Lock) joinHolders(m Mode, n uint32) bool {
	if !l.owned || m == Exclusive || m != l.mode || l.dead != nil || !l.queue.isEmpty() || len(l.set) > 0 {
		return false
	}
	l.holders += n
	return true
}

// Acquire takes the lock and returns true, or has w wait.
func (l *Lock) Acquire(w *event.Waiter, m Mode, out *Out) bool {
	if l.Try(m) {
		return true
	}
	if l.dead != nil {
		w.Poison = l.dead
		out.Fire.Push(w)
		return false
	}
	l.queue.pushWaiter(w, m)
	if !l.owned && !l.asked {
		l.askOwner(out)
	}
	return false
}

// Release ends one hold. The error tells that there is none.
func (l *Lock) Release(out *Out) error {
	if l.owned && l.holders > 0 {
		l.dropHolds(1, out)
		return nil
	}
	return l.releaseThere(out)
}

func (l *Lock) releaseThere(out *Out) error {
	switch {
	case l.dead != nil:
		return nil
	case l.owned:
		return l.unheld(l.Self)
	}
	m := Message{Kind: Release, Want: Want{Rank: l.Self, N: 1}, Answer: l.localHolds == 0}
	if m.Answer {
		l.unsure++
	} else {
		l.localHolds--
	}
	l.route(m, out)
	return nil
}

// ReleaseLost says that nobody knows whether a hold has ended, because rank has died. All are refused from now on.
func (l *Lock) ReleaseLost(rank int32, out *Out) { l.endLock(Cause{ReleaseLost, rank}, out) }

func (l *Lock) unheld(rank int32) error {
	return fmt.Errorf("rank %d has released %v, but nobody held it", rank, l.ID)
}

// Held tells whether the lock is held, with a payload that is up to date on this rank.
func (l *Lock) Held() bool { return l.owned && l.holders > 0 || l.localHolds > 0 }

// Owned tells whether this rank is the owner.
func (l *Lock) Owned() bool { return l.owned }

// Waiters calls f for the waiters of this rank, oldest first.
func (l *Lock) Waiters(f func(w *event.Waiter)) { l.queue.eachWaiter(f) }

// Owner is the rank that owns the lock, as far as this rank knows.
func (l *Lock) Owner() int { return int(l.hint.Owner) }

// Idle tells whether this rank is the owner, and nobody holds the lock or waits.
func (l *Lock) Idle() bool { return l.idle }

// Dead is why the lock refuses all; nil if it does not.
func (l *Lock) Dead() *event.Poison { return l.dead }

// Destroyed tells whether somebody has destroyed the lock, as far as this rank knows.
func (l *Lock) Destroyed() bool { return l.cause.Why == Destroyed || l.cause.Why == Forgotten }

// Destroy refuses all waiters and later acquires. Those that hold the lock may release it, or not.
func (l *Lock) Destroy(out *Out) { l.endLock(Cause{Destroyed, l.Self}, out) }

// endLock makes the owner refuse all.
func (l *Lock) endLock(c Cause, out *Out) {
	l.ending = c
	l.route(Message{Kind: End, Want: Want{Rank: l.Self}, Cause: c}, out)
}
