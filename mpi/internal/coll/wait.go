package coll

import (
	"fmt"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Waits of collectives. A wait that lasts longer than some polls looks for a reason why it may never end: a call that
// has failed on another rank, or a message that shows that ranks have called different collectives.

// After lookFirst a wait looks at the messages of all ranks. It asks the rank that it waits for which collective that
// rank has called. It repeats this after twice the time, and so on, but at least every lookMost.
const (
	lookFirst = 20 * time.Millisecond
	lookMost  = 5 * time.Second
)

// waitForStep waits for a step's operation and checks what it has brought. If the call cannot succeed meanwhile, it
// uses up the request and returns the error of the call.
func (x *Call) waitForStep(st *schedule.Step, r comm.Req) error {
	if w := x.st.waits; w != nil && !r.Ready() {
		since := w.Begin()
		defer func() { w.End(x.kind, since, int(x.st.Peers[st.Peer]), -1) }()
	}
	return x.waitStep(st, r)
}

func (x *Call) waitStep(st *schedule.Step, r comm.Req) error {
	if x.alarm == nil {
		_ = x.st.Server.AwaitOr(r, nil) // outcome has the same errors, but would tell of the wait once more
		return x.stepOutcome(st, r)
	}
	if r.Ready() || x.st.Server.Linger(r, x.alarm) {
		return x.stepOutcome(st, r)
	}
	x.peer, x.from = int(st.Peer), -1
	if st.Kind == schedule.Recv {
		x.from = x.peer
	}
	if err := x.awaitLong(r, never); err != nil {
		x.dropReq(r)
		return err
	}
	return x.stepOutcome(st, r)
}

// never is for waits that only their request ends.
func never() bool { return false }

// stepOutcome uses up the request of a step that is done. Ranks that disagree about a length have made a mistake.
func (x *Call) stepOutcome(st *schedule.Step, r comm.Req) error {
	got, err := x.st.Server.Wait(r)
	if err != nil || st.Kind == schedule.Recv && got.Bytes != int64(st.Len) {
		return x.stepError(st, int(got.Bytes), err)
	}
	return nil
}

// stepError is the error of a step: err, or that n bytes have come.
func (x *Call) stepError(st *schedule.Step, n int, err error) error {
	direction := "from"
	switch {
	case err == nil:
		return x.callErrorf(sentinel.ErrCount, "rank %d sent %d bytes, %d were expected", st.Peer, n, st.Len)
	case st.Kind == schedule.Send:
		direction = "to"
	}
	return fmt.Errorf("mpi: %s, call %d: %s, %d bytes %s rank %d: %w",
		x.kind, x.call, x.view.comm.Who(), st.Len, direction, st.Peer, x.view.comm.Cause(err))
}

// dropReq ends an operation whose result is not needed any more. In a view it ends at once. Elsewhere drop waits for
// the receiver of a send that has left, because the receiver may be reading the bytes.
func (x *Call) dropReq(r comm.Req) {
	if !x.st.Server.End(r) {
		x.st.Server.Cancel(r)
	}
	_, _ = x.st.Server.Wait(r)
}

// awaitLong listens while it waits until r is done, or over reports true. It resets the alarm before each look, and an
// alarm goes off only after its reason can be seen. So no reason is missed.
func (x *Call) awaitLong(r comm.Req, over func() bool) error {
	alarm := &x.st.listener.Alarm
	x.st.longed.Store(x.st.named(x.kind))
	defer x.st.longed.Store(nil)
	x.st.Server.Listen(&x.st.listener)
	defer x.st.Server.Unlisten(&x.st.listener)
	pause, next := lookFirst, time.Now().Add(lookFirst)
	x.st.waitTimer.Reset(pause)
	defer x.st.waitTimer.Stop()
	for {
		alarm.Reset()
		late := !time.Now().Before(next)
		if over() {
			return nil
		}
		if err := x.lookWhy(r, late, over); err != nil || r.Ready() {
			return err
		}
		if late {
			x.askRank(x.peer)
			pause = min(2*pause, lookMost)
			next = time.Now().Add(pause)
			x.st.waitTimer.Reset(pause)
		}
		if err := x.st.Server.AwaitOr(r, alarm); err != nil {
			return x.view.comm.OpError(x.kind, err)
		}
	}
}

// named gives a function's name a place, which is made once.
func (st *State) named(what string) *string {
	name := st.names[what]
	if name == nil {
		name = new(string) // not &what, which would be made at each call
		if *name = what; st.names == nil {
			st.names = make(map[string]*string)
		}
		st.names[what] = name
	}
	return name
}

// lookWhy returns the reason why the call cannot succeed, if it finds one. If all is set it looks at messages, too.
func (x *Call) lookWhy(r comm.Req, all bool, over func() bool) error {
	if err := x.poisoned(); err != nil {
		return err
	}
	if a := x.st.answer.Load(); a != nil && a.call == x.call {
		return x.mismatch(a.rank, a.tag)
	}
	if x.view.until != nil {
		if err := contextOver(x.view.until); err != nil {
			return x.gaveUp(err)
		}
	}
	if all {
		return x.lookAround(r, over)
	}
	return nil
}

// gaveUp ends a call whose context has ended.
func (x *Call) gaveUp(why error) error {
	err := x.ofCall(why)
	x.failAll(err)
	return err
}

// ofCall is the error of the call for which err is the reason.
func (x *Call) ofCall(err error) error {
	return fmt.Errorf("mpi: %s, call %d: %s: %w", x.kind, x.call, x.view.comm.Who(), err)
}

// verdict is what a message for which no receive is posted says to a call.
type verdict int

const (
	harmless verdict = iota
	skipped          // its sender has left the call: a receive from it never ends
	mismatch         // its sender has called something else
)

// judge looks at a message of rank src. Ranks are less than half the range of numbers apart; see round.
func (x *Call) judge(src, tag int) verdict {
	if tag == x.tag || tag == x.lastTag || x.st.isOpen(tag) {
		return harmless
	}
	ahead := skipped
	if src != x.from {
		ahead = harmless
	}
	if algorithm.OfTag(tag) == algorithm.Finalize {
		return ahead
	}
	switch {
	case x.behind(tag) && x.st.poison.Load() != nil && x.st.OfRank.isolated.Load():
		return harmless // maybe of one that has failed
	case x.behind(tag):
		return mismatch // of a call before, which has left it
	case algorithm.NumberOfTag(x.size, tag) != algorithm.NumberOfTag(x.size, x.tag) ||
		x.alg.ComesBefore(): // which comes before its call
		return ahead
	}
	return mismatch
}

// behind reports whether tag is of a call before this one.
func (x *Call) behind(tag int) bool {
	n := algorithm.NumberBits(x.size)
	return (uint64(tag)-x.call)&(1<<n-1) >= 1<<(n-1)
}

// suspect is Suspect of the listener: it wakes the call for each message that judge does not find harmless.
func (st *State) suspect(src, tag int) bool {
	return st.running.judge(st.comm.PeerOf(src), tag) != harmless
}

// lookAround judges all unmatched messages. A rank that has left the call is proved by taking the receive from it
// back: had its message come before the one that was found, the receive would have been matched. What over looks at has
// come before, too.
func (x *Call) lookAround(r comm.Req, over func() bool) error {
	worst, rank, found := harmless, 0, 0
	x.st.Server.Unmatched(x.st.Context, func(src, tag int) {
		src = x.view.comm.PeerOf(src)
		if v := x.judge(src, tag); v > worst {
			worst, rank, found = v, src, tag
		}
	})
	if worst == harmless || worst == skipped && !x.st.Server.Cancel(r) || over() {
		return nil
	}
	return x.mismatch(rank, found)
}

// mismatch ends the call, as a rank has called something else: that to which tag belongs.
func (x *Call) mismatch(rank, tag int) error {
	err := x.differs(rank, tag)
	x.failAll(err)
	return err
}

func (x *Call) differs(rank, tag int) error {
	mine, _ := x.st.tagOf(x.call)
	if x.sameCall(mine, tag) {
		return x.callErrorf(sentinel.ErrCount, "rank %d has called it with another length", rank)
	}
	here, there := algorithm.CallText(x.size, mine, x.call), algorithm.CallText(x.size, tag, x.call)
	more := ""
	if here == there {
		more = ", which waits where this one does not, or has another operation or length, or comes after other calls"
	}
	return x.callErrorf(sentinel.ErrMismatch, "this is %v%s; rank %d has called %s%s",
		x.kind, algorithm.CallDetail(x.size, mine, x.call), rank, there, more)
}

// sameCall tells that two tags are of one call, whose length alone may differ. A call over memory and one by messages
// may differ in that one does not wait.
func (x *Call) sameCall(a, b int) bool {
	p, q := algorithm.OfTag(a), algorithm.OfTag(b)
	return p != q && p.OverMemory() == q.OverMemory() && algorithm.CallText(x.size, a,
		x.call) == algorithm.CallText(x.size, b, x.call)
}

// leftover looks for messages that belong to a call before.
func (x *Call) leftover() (err error) {
	if x.st.poison.Load() != nil && x.st.OfRank.isolated.Load() {
		return nil
	}
	x.st.Server.Unmatched(x.st.Context, func(src, tag int) {
		if algorithm.OfTag(tag) != algorithm.Finalize && x.behind(tag) && !x.st.isOpen(tag) {
			err = x.callErrorf(sentinel.ErrMismatch, "a message of rank %d is left of %s", x.view.comm.PeerOf(src),
				algorithm.CallText(x.size,
					tag, x.call))
		}
	})
	return err
}

func (x *Call) callErrorf(class error, format string, args ...any) error {
	return x.view.comm.Errorf(x.kind, ": %w: %s", class, fmt.Sprintf(format, args...))
}
