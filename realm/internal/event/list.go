package event

// List is a queue of waiters, oldest first. The zero value is empty.
type List struct {
	last *Waiter // its Next is the oldest
}

// Empty tells whether there is none.
func (l *List) Empty() bool { return l.last == nil }

// Push puts w behind all others.
func (l *List) Push(w *Waiter) {
	if l.last == nil {
		w.Next = w
	} else {
		w.Next = l.last.Next
		l.last.Next = w
	}
	l.last = w
}

// enterList is Push of a waiter that Leave can take out.
func (l *List) enterList(w *Waiter) {
	w.prev = l.last
	l.Push(w)
}

// Leave takes w out, which is in l, and has come by enterList. It looks at the neighbours of w only.
func (l *List) Leave(w *Waiter) {
	before := w.prev
	if w == l.last.Next {
		before = l.last
	}
	l.cutWaiter(before, w)
}

// cutWaiter takes w out, which comes after before.
func (l *List) cutWaiter(before, w *Waiter) {
	switch {
	case before == w: // the only one
		l.last = nil
	case l.last == w:
		before.Next, l.last = w.Next, before
	default:
		before.Next, w.Next.prev = w.Next, before
	}
	w.Next, w.prev = nil, nil
}

// Pop takes the oldest one out; nil if there is none.
func (l *List) Pop() *Waiter {
	if l.last == nil {
		return nil
	}
	w := l.last.Next
	if w == l.last {
		l.last = nil
	} else {
		l.last.Next = w.Next
	}
	w.Next, w.prev = nil, nil
	return w
}

// Append puts all of m behind all others, and leaves m empty.
func (l *List) Append(m *List) {
	if m.last == nil {
		return
	}
	if l.last != nil {
		l.last.Next, m.last.Next = m.last.Next, l.last.Next
	}
	l.last, m.last = m.last, nil
}

// Take returns all and leaves l empty. why becomes the poison of each.
func (l *List) Take(why *Poison) List {
	t := *l
	l.last = nil
	if why != nil {
		t.Each(func(w *Waiter) { w.Poison = why })
	}
	return t
}

// Remove takes w out, and tells whether it was there. It takes a time in proportion to the length.
func (l *List) Remove(w *Waiter) bool {
	if l.last == nil {
		return false
	}
	for p := l.last; ; p = p.Next {
		switch {
		case p.Next == w:
			l.cutWaiter(p, w)
			return true
		case p.Next == l.last:
			return false
		}
	}
}

// RemoveWhere takes out those that out names, which looks at each once.
func (l *List) RemoveWhere(out func(w *Waiter) bool) {
	var kept List
	for w := l.Pop(); w != nil; w = l.Pop() {
		if !out(w) {
			kept.enterList(w)
		}
	}
	*l = kept
}

// Len is how many there are.
func (l *List) Len() (n int) {
	l.Each(func(*Waiter) { n++ })
	return n
}

// Each calls f for all, oldest first. f must not change the list.
func (l *List) Each(f func(w *Waiter)) {
	if l.last == nil {
		return
	}
	for w := l.last.Next; ; w = w.Next {
		f(w)
		if w == l.last {
			return
		}
	}
}
