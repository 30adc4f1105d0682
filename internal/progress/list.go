package progress

import (
	"sync"
	"sync/atomic"
)

// groupList is a queue of groups, linked through them, so that waiting allocates nothing. A group is in one at most.
type groupList struct {
	n          atomic.Int32 // length; may lag behind while a group enters
	mu         sync.Mutex
	head, tail *Group
}

// pushGroup lists g at the end.
func (l *groupList) pushGroup(g *Group) {
	l.mu.Lock()
	g.listed, g.prev = true, l.tail
	if l.tail == nil {
		l.head = g
	} else {
		l.tail.next = g
	}
	l.tail = g
	l.mu.Unlock()
	l.n.Add(1)
}

// removeGroup takes g out if it is listed.
func (l *groupList) removeGroup(g *Group) {
	l.mu.Lock()
	if g.listed {
		l.unlinkGroup(g)
	}
	l.mu.Unlock()
}

// popGroup takes the first one out, or returns nil.
func (l *groupList) popGroup() *Group {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.head
	if g != nil {
		l.unlinkGroup(g)
	}
	return g
}

// unlinkGroup is called with the lock held, for a group that is listed.
func (l *groupList) unlinkGroup(g *Group) {
	if g.prev == nil {
		l.head = g.next
	} else {
		g.prev.next = g.next
	}
	if g.next == nil {
		l.tail = g.prev
	} else {
		g.next.prev = g.prev
	}
	g.listed, g.prev, g.next = false, nil, nil
	l.n.Add(-1)
}

// eachGroup calls f for all that are listed, under the lock.
func (l *groupList) eachGroup(f func(*Group)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g := l.head; g != nil; g = g.next {
		f(g)
	}
}
