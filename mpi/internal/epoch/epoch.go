package epoch

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
)

// ProcNull is MPI_PROC_NULL in the ABI. It may be locked, flushed and accessed, without effect; accesses need no epoch.
const ProcNull = -3

// Assert is assertions, by their bits in the ABI.
type Assert int

// Assertions (12.5.6).
const (
	NoCheck   Assert = 1024
	NoPrecede Assert = 2048
	NoPut     Assert = 4096
	NoStore   Assert = 8192
	NoSucceed Assert = 16384
)

// LockType is the kind of a lock, by its number in the ABI.
type LockType int

// Kinds of locks.
const (
	Exclusive LockType = 301
	Shared    LockType = 302
)

// Args is the arguments of a call that matter here.
type Args struct {
	Target int      // of lock, unlock, flush and accesses
	Group  []int    // of start and post, as ranks of the window
	Assert Assert   // of fence, start, post, lock and lock_all
	Lock   LockType // of lock
}

// Window is the epochs of one rank on a window. One goroutine at a time uses it.
type Window struct {
	self, ranks int
	state       State
	posted      bool
	targets     map[int]bool // those started or locked
	exposed     []int        // the group of post
}

// New is the state of rank self of a new window of so many ranks.
func New(self, ranks int) *Window { return &Window{self: self, ranks: ranks} }

// currentState is the present epoch, and whether post has opened one of exposure.
func (w *Window) currentState() (s State, posted bool) { return w.state, w.posted }

// Targets is the ranks that are started or locked, in no order.
func (w *Window) Targets() (list []int) {
	for t := range w.targets {
		list = append(list, t)
	}
	return list
}

// What Open gives where it is no single target.
const (
	NoTarget  = -2
	AnyTarget = -1
)

// Open is the target that accesses are allowed to until the next call that is no access; AnyTarget: to all. passive: so
// are flushes, and accesses with a request. NoTarget: Check must be asked for each access.
func (w *Window) Open() (target int, passive bool) {
	switch w.state {
	case Within:
		return AnyTarget, false
	case All:
		return AnyTarget, true
	case Started, Locked:
		if len(w.targets) == 1 {
			for t := range w.targets {
				target = t
			}
			return target, w.state == Locked
		}
	}
	return NoTarget, false
}

// Exposed is the group that post has named. Nobody may change it.
func (w *Window) Exposed() []int { return w.exposed }

// Check tells whether a call is allowed now. It looks for these in turn. errs.Intern: there is no such
// call. errs.Rank: there is no such target. errs.LockType: there is no such lock. errs.Assert: the call knows no such
// assertion. errs.Group: the group has a rank that is not of the window. errs.RMASync: the epoch is another one.
func (w *Window) Check(c Call, a Args) error {
	if c >= calls {
		return fmt.Errorf("%w: %v %d on a window", errs.Intern, c, int(c))
	}
	if err := w.checkArgs(c, a); err != nil {
		return err
	}
	r := &rules[c]
	if r.asks == reachable && a.Target == ProcNull && (c == Access || c == AccessReq) {
		return nil
	}
	if !r.in.hasState(w.state) || r.posted == open && !w.posted || r.posted == closed && w.posted || !w.grants(r.asks, a) {
		return w.wrong(c, a)
	}
	return nil
}

func (w *Window) checkArgs(c Call, a Args) error {
	r := &rules[c]
	switch {
	case r.asks != nothing && c != Post && a.Target != ProcNull && !w.hasTarget(a.Target):
		return fmt.Errorf("%w: %v of target %d of %d ranks", errs.Rank, c, a.Target, w.ranks)
	case c == Lock && a.Lock != Exclusive && a.Lock != Shared:
		return fmt.Errorf("%w: %d", errs.LockType, int(a.Lock))
	case a.Assert&^r.assert != 0:
		return fmt.Errorf("%w: %d in %v", errs.Assert, int(a.Assert&^r.assert), c)
	}
	if c != Start && c != Post {
		return nil
	}
	for _, t := range a.Group {
		if !w.hasTarget(t) {
			return fmt.Errorf("%w: %v with rank %d of %d", errs.Group, c, t, w.ranks)
		}
	}
	return nil
}

func (w *Window) hasTarget(rank int) bool { return rank >= 0 && rank < w.ranks }

// grants tells whether the target allows the call.
func (w *Window) grants(what ask, a Args) bool {
	switch what {
	case reachable:
		return a.Target == ProcNull || w.state != Started && w.state != Locked || w.targets[a.Target]
	case unlocked:
		return !w.targets[a.Target] && !(w.posted && a.Target == w.self)
	case held:
		return w.targets[a.Target]
	case private:
		return w.state != All && !(w.state == Locked && w.targets[w.self])
	}
	return true
}

// wrong is the error of a call in a wrong epoch.
func (w *Window) wrong(c Call, a Args) error {
	exposure := ""
	if w.posted {
		exposure = ", posted"
	}
	if rules[c].asks == nothing || c == Post {
		return fmt.Errorf("%w: %v by rank %d in state %v%s%s", errs.RMASync, c, w.self, w.state, exposure, w.openers(c))
	}
	return fmt.Errorf("%w: %v of target %d by rank %d in state %v%s%s", errs.RMASync, c, a.Target, w.self, w.state,
		exposure, w.openers(c))
}

// Do is Check, and goes to the next state if it finds no error. A call that blocks asks Check first, and Do when it is
// done.
func (w *Window) Do(c Call, a Args) error {
	if err := w.Check(c, a); err != nil {
		return err
	}
	switch c {
	case Fence:
		w.state = Fenced
		if a.Assert&NoSucceed != 0 {
			w.state = None
		}
	case Start:
		w.enterState(Started, a.Group...)
	case Lock:
		w.enterState(Locked, a.Target)
	case LockAll:
		w.enterState(All)
	case Complete, UnlockAll, Free:
		w.leaveState()
	case Unlock:
		if delete(w.targets, a.Target); len(w.targets) == 0 {
			w.leaveState()
		}
	case Post:
		w.posted, w.exposed = true, a.Group
		if w.state == Fenced {
			w.state = None
		}
	case Wait:
		w.posted, w.exposed = false, nil
	case Access:
		if w.state == Fenced && a.Target != ProcNull {
			w.state = Within
		}
	}
	return nil
}

func (w *Window) enterState(s State, targets ...int) {
	w.state = s
	if w.targets == nil {
		w.targets = make(map[int]bool)
	}
	for _, t := range targets {
		w.targets[t] = true
	}
}

func (w *Window) leaveState() {
	w.state = None
	clear(w.targets)
}

// openers tells which calls open an epoch that allows c, where none is open or one of another kind.
func (w *Window) openers(c Call) string {
	switch {
	case c == Access && w.state == None:
		return "; Fence, Start, Lock or LockAll opens an epoch for it"
	case c == AccessReq || c == Flush || c == FlushAll || c == Sync:
		if w.state != Locked && w.state != All {
			return "; Lock or LockAll opens an epoch for it"
		}
	case c == Access && (w.state == Started || w.state == Locked):
		return "; the epoch is for other targets"
	}
	return ""
}
