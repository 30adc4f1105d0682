package progress

// want is what one waiter waits for: all of ds, or any one. Nil entries do not count. It is the waiter's own.
type want struct {
	one     *Done // instead of ds: a single one
	ds      []*Done
	any     bool
	watched bool // the group hangs on the pending ones, and fires when it is worth looking
	g       *Group
}

// beginWant gives the want its group, in which a list of one is kept: a slice of the waiter's own would be allocated.
func (x *want) beginWant(g *Group) {
	x.g = g
	if x.one != nil {
		g.single[0] = x.one
		x.ds = g.single[:]
	}
}

// endWant lets go of everything.
func (x *want) endWant() {
	x.unwatchPending()
	x.g.single[0] = nil
}

// hasSpun reports whether the waiter has spun before for any of the operations of x.
func (x *want) hasSpun() bool {
	for _, d := range x.ds {
		if d != nil && d.spun {
			return true
		}
	}
	return false
}

const fewDones = 16 // may be looked through at every poll

// isOver reports whether the wait is over.
func (x *want) isOver() bool {
	if x.any {
		return x.anyReady()
	}
	for len(x.ds) > 0 && (x.ds[0] == nil || x.ds[0].Ready()) {
		x.ds = x.ds[1:]
	}
	return len(x.ds) == 0
}

func (x *want) anyReady() bool {
	if len(x.ds) > fewDones && x.watched && !x.g.hasFired() {
		return false
	}
	open := false
	for _, d := range x.ds {
		if d == nil {
			continue
		}
		if d.Ready() {
			return true
		}
		open = true
	}
	return !open
}

// watchPending hangs the group on what is pending and arms it; false if it is worth looking again at once.
func (x *want) watchPending() bool {
	x.g.beginCount()
	open := 0
	for _, d := range x.ds {
		if d == nil || d.Ready() {
			continue
		}
		d.group.Store(x.g)
		if !d.Ready() { // the completer stores ready first, then looks for a group
			open++
		}
	}
	x.watched = true
	if x.any {
		open = min(open, 1)
	}
	if open > 0 && x.g.armAt(open) && (!x.any || !x.scanDone()) {
		return true
	}
	x.g.left.Store(0) // as if a signal had come: isOver looks at many only then
	return false
}

// scanDone looks whether one is ready, whatever the group says.
func (x *want) scanDone() bool {
	for _, d := range x.ds {
		if d != nil && d.Ready() {
			return true
		}
	}
	return false
}

// unwatchPending takes the group off what is still pending.
func (x *want) unwatchPending() {
	if !x.watched {
		return
	}
	for _, d := range x.ds {
		if d != nil && d.group.Load() == x.g {
			d.group.CompareAndSwap(x.g, nil)
		}
	}
}
