package reservation

import "slices"

// This file has what the owner does.

// dropHolds ends n holds.
func (l *Lock) dropHolds(n uint32, out *Out) {
	if l.holders -= n; l.holders > 0 || l.dead != nil {
		return
	}
	if l.queue.isEmpty() && len(l.set) == 0 {
		l.idle = true
		l.sharers = l.sharers[:0]
		return
	}
	l.passOn(out)
}

// passOn: nobody holds the lock. It goes to the next waiter.
func (l *Lock) passOn(out *Out) {
	l.sharers = l.sharers[:0]
	switch {
	case l.queue.isEmpty() && len(l.set) == 0:
		l.idle = true
	case l.queue.isEmpty(), len(l.set) > 0 && l.localGrants >= l.Turns:
		l.giveAway(out)
	default:
		l.grantLocal(out)
	}
}

// grantLocal: the oldest local waiters hold the lock. All other ranks that wait for the same shared mode do, too.
func (l *Lock) grantLocal(out *Out) {
	m, n := l.queue.headGroup()
	l.queue.popOldest(n, &out.Fire)
	l.takeFree(m, n)
	if len(l.set) == 0 {
		return
	}
	l.localGrants += int(n)
	if m == Exclusive {
		return
	}
	l.set = slices.DeleteFunc(l.set, func(w Want) bool {
		if w.Mode != m {
			return false
		}
		l.holders += w.N
		l.shareGrant(w, out)
		return true
	})
}

// shareGrant sends a grant. The holders have been counted.
func (l *Lock) shareGrant(w Want, out *Out) {
	if at := index(l.sharers, w.Rank); at >= 0 {
		l.sharers[at].N += w.N
	} else {
		l.sharers = append(l.sharers, w)
	}
	out.Send = append(out.Send, Message{
		Kind: Grant, To: w.Rank, Want: w, Hint: l.hint, Version: l.version, Payload: l.Payload,
	})
}

// giveAway sends the lock to the first of the other ranks that wait. This rank is the last of them from now on, if it
// has waiters.
func (l *Lock) giveAway(out *Out) {
	to, rest := l.set[0].Rank, l.set[1:]
	if l.asked = !l.queue.isEmpty(); l.asked {
		m, n := l.queue.headGroup()
		rest = append(rest, Want{l.Self, m, n})
	}
	l.owned, l.idle = false, false
	l.hint = Hint{Owner: to, Giver: l.Self, Epoch: l.hint.Epoch + 1}
	carried := min(len(rest), l.Carry)
	out.Send = append(out.Send, Message{
		Kind: Transfer, To: to, Hint: l.hint, Version: l.version, Wants: rest[:carried], Payload: l.Payload,
	})
	if l.home != l.Self && l.home != to {
		out.Send = append(out.Send, Message{Kind: Moved, To: l.home, Hint: l.hint})
	}
	for _, w := range rest[carried:] {
		l.route(Message{Kind: Request, Want: w}, out)
	}
	l.set = l.set[:0] // the message has it until the next input
}

// serveOwner does what m asks of the owner.
func (l *Lock) serveOwner(m Message, out *Out) {
	switch m.Kind {
	case Request:
		l.request(m.Want, out)
	case Release:
		l.released(m, out)
	case End:
		l.die(m.Cause, out)
		l.refuse(m.Want.Rank, out)
		if l.home != m.Want.Rank { // whoever asks for the first time asks there
			l.refuse(l.home, out)
		}
	}
}

// request: a rank waits. A request that was sent again after a death may be one of this rank, or come twice.
func (l *Lock) request(w Want, out *Out) {
	at := index(l.set, w.Rank)
	switch {
	case w.Rank == l.Self || l.isLost(w.Rank):
	case at >= 0:
		l.set[at] = w
	case l.idle:
		l.set = append(l.set, w)
		l.giveAway(out)
	case l.joinHolders(w.Mode, w.N):
		l.shareGrant(w, out)
	default:
		if len(l.set) == 0 {
			l.localGrants = 0
		}
		l.set = append(l.set, w)
	}
}

func (l *Lock) released(m Message, out *Out) {
	from := m.Want.Rank
	kind := Released
	if m.Want.N > l.holders {
		kind = Unheld
	} else {
		l.unshare(m)
		l.dropHolds(m.Want.N, out)
	}
	switch {
	case from == l.Self:
		l.onAnswer(kind, out)
	case !l.isLost(from) && (m.Answer || kind == Unheld):
		out.Send = append(out.Send, Message{Kind: kind, To: from})
	}
}

// onAnswer: a release that this rank has sent was counted, or was wrong.
func (l *Lock) onAnswer(k Kind, out *Out) {
	l.unsure = max(0, l.unsure-1)
	if k == Unheld {
		out.Err = l.unheld(l.Self)
	}
}

// unshare: m ends holds of the rank that has sent it, or of any rank if it has none.
func (l *Lock) unshare(m Message) {
	at := index(l.sharers, m.Want.Rank)
	if at < 0 || m.Answer {
		return
	}
	if l.sharers[at].N -= min(m.Want.N, l.sharers[at].N); l.sharers[at].N == 0 {
		l.sharers = slices.Delete(l.sharers, at, at+1)
	}
}

// index is the place of rank in a set, or -1.
func index(set []Want, rank int32) int {
	return slices.IndexFunc(set, func(w Want) bool { return w.Rank == rank })
}
