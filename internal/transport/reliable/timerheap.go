package reliable

import "time"

// timerHeap has the peers in the order of their next timers. It is a heap of four children a node. The times are beside
// the pointers, so a comparison touches no peer. Only pairs in use are in it. An entry may be early, never late: it
// stays when its timer becomes needless. When its time comes the peer sets the next.
type timerHeap struct{ heap []entry }

type entry struct {
	due time.Duration
	p   *peer
}

const fanout = 4

// first is the earliest time, never if there is none.
func (a *timerHeap) first() time.Duration {
	if len(a.heap) == 0 {
		return never
	}
	return a.heap[0].due
}

// setDue enters p with a time, or changes it.
func (a *timerHeap) setDue(p *peer, due time.Duration) {
	i := p.entry
	if i == none {
		i = len(a.heap)
		p.entry = i
		a.heap = append(a.heap, entry{due, p})
	} else if due > a.heap[i].due {
		a.heap[i].due = due
		a.down(i)
		return
	}
	a.heap[i].due = due
	a.up(i)
}

// removePeer takes p out, if it is there.
func (a *timerHeap) removePeer(p *peer) {
	i := p.entry
	if i == none {
		return
	}
	p.entry = none
	last := len(a.heap) - 1
	e := a.heap[last]
	a.heap[last] = entry{}
	if a.heap = a.heap[:last]; i < last {
		a.heap[i] = e
		a.up(i)
		a.down(e.p.entry)
	}
}

func (a *timerHeap) up(i int) {
	e := a.heap[i]
	for i > 0 {
		parent := (i - 1) / fanout
		if a.heap[parent].due <= e.due {
			break
		}
		a.heap[i] = a.heap[parent]
		a.heap[i].p.entry = i
		i = parent
	}
	a.heap[i] = e
	e.p.entry = i
}

func (a *timerHeap) down(i int) {
	e := a.heap[i]
	for {
		least, c := i, fanout*i+1
		due := e.due
		for k := c; k < min(c+fanout, len(a.heap)); k++ {
			if a.heap[k].due < due {
				least, due = k, a.heap[k].due
			}
		}
		if least == i {
			break
		}
		a.heap[i] = a.heap[least]
		a.heap[i].p.entry = i
		i = least
	}
	a.heap[i] = e
	e.p.entry = i
}
