package reservation

import "slices"

// This file has how messages find the owner, and what the other ranks do.

// Handle takes a message. It keeps nothing of its slices.
func (l *Lock) Handle(m Message, out *Out) {
	switch m.Kind {
	case Request, Release, End:
		l.route(m, out)
	case Transfer:
		l.arrive(m, out)
	case Grant:
		l.granted(m, out)
	case Moved:
		l.learnHint(m.Hint, out)
	case Refused:
		l.die(m.Cause, out)
	case Released, Unheld:
		l.onAnswer(m.Kind, out)
	}
}

// askOwner sends the request of this rank.
func (l *Lock) askOwner(out *Out) {
	l.asked = true
	m, n := l.queue.headGroup()
	l.route(Message{Kind: Request, Want: Want{l.Self, m, n}}, out)
}

// route brings a message for the owner nearer to it.
func (l *Lock) route(m Message, out *Out) {
	l.learnHint(m.Hint, out)
	switch {
	case l.dead != nil:
		if m.Kind != Release {
			l.refuse(m.Want.Rank, out)
		}
	case m.Deaths > len(l.Gone):
		l.kept = append(l.kept, m)
	case l.owned:
		l.serveOwner(m, out)
	case l.awaited.Epoch > l.hint.Epoch:
		l.kept = append(l.kept, m)
	default:
		l.forward(m, out)
	}
}

// forward sends m to the latest owner. If that has died, the home knows whether there is a later one.
func (l *Lock) forward(m Message, out *Out) {
	m.To, m.Hint, m.Deaths = l.hint.Owner, l.hint, max(m.Deaths, len(l.Gone))
	if l.isLost(m.To) {
		if l.Self == l.home {
			l.die(Cause{OwnerDied, m.To}, out)
			l.route(m, out)
			return
		}
		m.To = l.home
	}
	out.Send = append(out.Send, m)
}

// again routes what was kept.
func (l *Lock) again(out *Out) {
	kept := l.kept
	l.kept = nil
	for _, m := range kept {
		l.route(m, out)
	}
}

// learnHint: h may be a later owner.
func (l *Lock) learnHint(h Hint, out *Out) {
	switch {
	case h.Epoch <= l.hint.Epoch:
	case h.Owner != l.Self:
		l.hint = h
	case l.isLost(h.Giver): // all that it sent has been handled, and the transfer was not among it
		l.die(Cause{OwnerDied, h.Giver}, out)
	default:
		l.awaited = h
	}
}

// arrive: this rank is the owner.
func (l *Lock) arrive(m Message, out *Out) {
	l.owned, l.hint, l.localHolds, l.asked, l.localGrants = true, m.Hint, 0, false, 0
	l.version = m.Version
	copy(l.Payload, m.Payload)
	for _, w := range m.Wants {
		if w.Rank != l.Self && !l.isLost(w.Rank) {
			l.set = append(l.set, w)
		}
	}
	if l.dead != nil {
		l.refuseAll(out)
	} else {
		l.passOn(out)
	}
	l.again(out)
}

// granted: waiters of this rank hold the lock of another. More than there are were granted if a request came twice.
func (l *Lock) granted(m Message, out *Out) {
	l.learnHint(m.Hint, out)
	n := uint32(0)
	if !l.owned && !l.queue.isEmpty() {
		if mode, most := l.queue.headGroup(); mode == m.Want.Mode {
			n = min(most, m.Want.N)
			l.queue.popOldest(n, &out.Fire)
		}
		if l.localHolds += n; l.version != m.Version {
			l.version = m.Version
			copy(l.Payload, m.Payload)
		}
	}
	if l.asked = false; !l.owned && !l.queue.isEmpty() {
		l.askOwner(out)
	}
	if rest := m.Want.N - n; rest > 0 {
		l.route(Message{Kind: Release, Want: Want{Rank: l.Self, N: rest}}, out)
	}
}

// isLost tells whether rank has died.
func (l *Lock) isLost(rank int32) bool { return slices.Contains(l.Gone, rank) }

// PeerGone: rank has died, and all that it sent has been handled.
func (l *Lock) PeerGone(rank int32, out *Out) {
	if l.isLost(rank) {
		return
	}
	l.Gone = append(l.Gone, rank)
	switch {
	case l.dead != nil:
	case rank == l.home:
		l.die(Cause{HomeDied, rank}, out)
	case l.awaited.Epoch > l.hint.Epoch && l.awaited.Giver == rank,
		l.home == l.Self && !l.owned && l.hint.Owner == rank:
		l.die(Cause{OwnerDied, rank}, out)
	case l.owned:
		l.without(rank, out)
	default:
		l.repeat(rank, out)
	}
	l.again(out)
}

// without: another rank has died, and this one is the owner.
func (l *Lock) without(rank int32, out *Out) {
	l.set = slices.DeleteFunc(l.set, func(w Want) bool { return w.Rank == rank })
	if index(l.sharers, rank) >= 0 {
		l.die(Cause{HolderDied, rank}, out)
	}
}

// repeat sends again what may be lost with rank.
func (l *Lock) repeat(rank int32, out *Out) {
	if l.asked {
		l.askOwner(out)
	}
	switch {
	case l.unsure > 0:
		l.endLock(Cause{ReleaseLost, rank}, out)
	case l.ending.Why != Alive:
		l.endLock(l.ending, out)
	}
}

// die: the lock refuses all from now on.
func (l *Lock) die(c Cause, out *Out) {
	if l.dead != nil {
		return
	}
	l.dead, l.cause, l.idle, l.asked = c.poisonFor(l.ID, l.Died), c, false, false
	l.queue.takePoisoned(l.dead, &out.Fire)
	l.refuseAll(out)
	if c.Why == OwnerDied && l.Self == l.home {
		for r := range l.Ranks { // the transfer to one of them may have been the last message of the one that died
			l.refuse(int32(r), out)
		}
	}
	l.again(out)
}

// refuseAll tells the ranks that wait.
func (l *Lock) refuseAll(out *Out) {
	for _, w := range l.set {
		l.refuse(w.Rank, out)
	}
	l.set = nil
}

func (l *Lock) refuse(rank int32, out *Out) {
	if rank != l.Self && !l.isLost(rank) {
		out.Send = append(out.Send, Message{Kind: Refused, To: rank, Cause: l.cause})
	}
}
