package event

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func (l *List) all() (ws []*Waiter) {
	l.Each(func(w *Waiter) { ws = append(ws, w) })
	return ws
}

// listModel has three lists, and the same as three slices.
type listModel struct {
	t     *testing.T
	rng   *rand.Rand
	lists [3]List
	model [3][]*Waiter
	free  []*Waiter
}

// TestListModel does random operations with the lists, and the same with the slices.
func TestListModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	m := &listModel{t: t, rng: rand.New(rand.NewPCG(seed, 0)), free: waiters(40)}
	for range 50_000 {
		m.step(m.rng.IntN(3), m.rng.IntN(3))
		m.compare()
	}
}

func (m *listModel) step(i, j int) {
	switch m.rng.IntN(8) {
	default:
		if len(m.free) > 0 {
			w := m.free[0]
			m.free = m.free[1:]
			m.lists[i].Push(w)
			m.model[i] = append(m.model[i], w)
		}
	case 0:
		m.pop(i)
	case 1:
		if i != j {
			m.lists[i].Append(&m.lists[j])
			m.model[i], m.model[j] = append(m.model[i], m.model[j]...), nil
		}
	case 2:
		if i != j && len(m.model[j]) == 0 {
			m.lists[j] = m.lists[i].Take(nil)
			m.model[j], m.model[i] = m.model[i], nil
		}
	case 3, 4:
		if len(m.model[j]) > 0 {
			m.remove(i, j, m.rng.IntN(len(m.model[j])))
		}
	}
}

func (m *listModel) pop(i int) {
	w := m.lists[i].Pop()
	if len(m.model[i]) == 0 {
		if w != nil {
			m.t.Fatal("an empty list has a waiter")
		}
		return
	}
	if w != m.model[i][0] || w.Next != nil {
		m.t.Fatal("Pop has not returned the oldest, free of links")
	}
	m.model[i], m.free = m.model[i][1:], append(m.free, w)
}

// remove has list i remove the waiter k of list j.
func (m *listModel) remove(i, j, k int) {
	w := m.model[j][k]
	if got := m.lists[i].Remove(w); got != (i == j) {
		m.t.Fatalf("Remove returned %v for a waiter of list %d in list %d", got, j, i)
	}
	if i == j {
		if w.Next != nil {
			m.t.Fatal("a removed waiter has a link")
		}
		m.model[i], m.free = slices.Delete(slices.Clone(m.model[i]), k, k+1), append(m.free, w)
	}
}

func (m *listModel) compare() {
	for i := range m.lists {
		l, want := &m.lists[i], m.model[i]
		if got := l.all(); !slices.Equal(got, want) {
			m.t.Fatalf("list %d has %v, want %v", i, got, want)
		}
		if l.Empty() != (len(want) == 0) || l.Len() != len(want) {
			m.t.Fatalf("list %d: empty %v, length %d, want %d", i, l.Empty(), l.Len(), len(want))
		}
	}
}

// TestListLeave does random operations with a list whose waiters enter, and the same with a slice.
func TestListLeave(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var l List
	var model []*Waiter
	free := waiters(12)
	out := func(k int) {
		w := model[k]
		if w.Next != nil {
			t.Fatal("a waiter that is out has a link")
		}
		model, free = slices.Delete(model, k, k+1), append(free, w)
	}
	for range 50_000 {
		switch n := len(model); {
		case n == 0 || len(free) > 0 && rng.IntN(2) == 0:
			w := free[0]
			free = free[1:]
			l.enterList(w)
			model = append(model, w)
		case rng.IntN(4) == 0:
			l.Pop()
			out(0)
		case rng.IntN(4) == 0:
			k := rng.IntN(n)
			if !l.Remove(model[k]) {
				t.Fatal("a waiter is not found")
			}
			out(k)
		case rng.IntN(8) == 0:
			l.RemoveWhere(func(*Waiter) bool { return true })
			for len(model) > 0 {
				out(0)
			}
		case rng.IntN(4) == 0:
			var seen, gone []*Waiter
			l.RemoveWhere(func(w *Waiter) bool {
				seen = append(seen, w)
				if rng.IntN(3) == 0 {
					gone = append(gone, w)
					return true
				}
				return false
			})
			if !slices.Equal(seen, model) {
				t.Fatalf("RemoveWhere has looked at %v, not %v", seen, model)
			}
			for _, w := range gone {
				out(slices.Index(model, w))
			}
		default:
			k := rng.IntN(n)
			l.Leave(model[k])
			out(k)
		}
		if got := l.all(); !slices.Equal(got, model) {
			t.Fatalf("%v, want %v", got, model)
		}
	}
}

// TestLeaveLooksAtNeighbours: a list whose other links lead nowhere is no hindrance.
func TestLeaveLooksAtNeighbours(t *testing.T) {
	var l List
	ws := waiters(9)
	for _, w := range ws {
		l.enterList(w)
	}
	ws[1].Next, ws[6].Next = nil, nil
	l.Leave(ws[4])
	l.Leave(ws[0])
	l.Leave(ws[8])
	if ws[3].Next != ws[5] || ws[7].Next != ws[1] || l.last != ws[7] {
		t.Error("the neighbours are not linked")
	}
}

// TestListTake: all that are taken have the poison; without one they keep what they have.
func TestListTake(t *testing.T) {
	var l List
	why := &Poison{Text: "why"}
	ws := []*Waiter{{}, {}, {}}
	for _, w := range ws {
		l.Push(w)
	}
	got := l.Take(why)
	if !l.Empty() || !slices.Equal(got.all(), ws) {
		t.Fatal("Take has not taken all, in order")
	}
	for _, w := range ws {
		if w.Poison != why {
			t.Error("a waiter has no poison")
		}
	}
	if none := l.Take(why); !none.Empty() {
		t.Error("an empty list has given waiters")
	}
}

// TestListAllocates: a list never allocates.
func TestListAllocates(t *testing.T) {
	var l, m List
	ws := make([]Waiter, 4)
	if n := testing.AllocsPerRun(100, func() {
		for i := range ws {
			l.Push(&ws[i])
		}
		l.Remove(&ws[2])
		m.Append(&l)
		got := m.Take(nil)
		for got.Pop() != nil {
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
