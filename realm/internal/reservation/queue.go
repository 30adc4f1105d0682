package reservation

import "github.com/golci/golci/realm/internal/event"

// queue has the waiters of one rank, oldest first, in runs of one mode.
type queue struct {
	runs  []run
	first int // those before it are empty
}

type run struct {
	mode Mode
	n    uint32
	list event.List
}

func (q *queue) isEmpty() bool { return q.first == len(q.runs) }

func (q *queue) pushWaiter(w *event.Waiter, m Mode) {
	if q.isEmpty() || q.runs[len(q.runs)-1].mode != m {
		q.makeRoom()
		q.runs = append(q.runs, run{mode: m})
	}
	r := &q.runs[len(q.runs)-1]
	r.list.Push(w)
	r.n++
}

// makeRoom moves the runs to the front when most of the slice is unused.
func (q *queue) makeRoom() {
	if q.first > 0 && 2*q.first >= len(q.runs) {
		n := copy(q.runs, q.runs[q.first:])
		clear(q.runs[n:])
		q.runs, q.first = q.runs[:n], 0
	}
}

// headGroup is the mode of the oldest waiters, and how many of them can hold the lock together.
func (q *queue) headGroup() (Mode, uint32) {
	r := &q.runs[q.first]
	if r.mode == Exclusive {
		return Exclusive, 1
	}
	return r.mode, r.n
}

// popOldest moves the n oldest to out. They have one mode.
func (q *queue) popOldest(n uint32, out *event.List) {
	r := &q.runs[q.first]
	if n == r.n {
		out.Append(&r.list)
		q.first++
		return
	}
	r.n -= n
	for range n {
		out.Push(r.list.Pop())
	}
}

// eachWaiter calls f for all, oldest first.
func (q *queue) eachWaiter(f func(w *event.Waiter)) {
	for i := q.first; i < len(q.runs); i++ {
		q.runs[i].list.Each(f)
	}
}

// takePoisoned moves all to out, with poison p.
func (q *queue) takePoisoned(p *event.Poison, out *event.List) {
	for ; !q.isEmpty(); q.first++ {
		all := q.runs[q.first].list.Take(p)
		out.Append(&all)
	}
	q.runs, q.first = nil, 0
}
