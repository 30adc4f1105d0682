package barrier

// lookAtPeers runs as the poller, after somebody has slept: then a failed peer may be why nothing comes. The order
// matters: what the peer committed before it failed is found pending, or its handler has run.
func (b *Barrier) lookAtPeers() {
	step, waits := b.awaited()
	if !waits || b.e.PeerFailed(b.before(step)) == nil || b.e.Conduit().Pending() {
		return
	}
	var todo chores
	b.mu.Lock()
	h := &b.halves[b.phase&1]
	if b.state != idle && h.merged == step && b.broken == nil {
		b.breakDown(h, vote{failed, uint64(b.before(step))}, &todo)
	}
	b.mu.Unlock()
	b.carryOut(&todo, nil)
}

// awaited is the step whose message this rank waits for, if it waits.
func (b *Barrier) awaited() (step int, waits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	step = b.halves[b.phase&1].merged
	return step, b.state != idle && b.broken == nil && step < b.steps
}
