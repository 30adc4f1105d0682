package core

import "sync/atomic"

// Isolate has a collective that fails end on all ranks without an effect on those after it. Programs in C expect that:
// they go on after an error. Without it all later collectives of the communicator fail. To be called before there are
// collectives, on all ranks of a job or on none.
func (p *Proc) Isolate() { p.isolated.Store(true) }

// keptDead is how many calls that have failed are known. A rank that is further behind waits in a call that has failed.
const keptDead = 64

// deadCalls are the calls of a communicator that have failed on any rank, by number.
type deadCalls [keptDead]atomic.Pointer[CollectiveError]

// get is how a call has failed; nil if it is not known to have.
func (d *deadCalls) get(call uint64) *CollectiveError {
	if e := d[call%keptDead].Load(); e != nil && e.Call == call {
		return e
	}
	return nil
}

// add notes that a call has failed, unless that is known, or one after it has that takes its place.
func (d *deadCalls) add(e *CollectiveError) bool {
	slot := &d[e.Call%keptDead]
	for {
		old := slot.Load()
		if old != nil && old.Call >= e.Call {
			return false
		}
		if slot.CompareAndSwap(old, e) {
			return true
		}
	}
}
