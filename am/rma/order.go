package rma

import "github.com/golci/golci/internal/platform/invariants"

// Counters and atomics order what ranks do. Where processes share them the race detector sees no accesses, and so no
// order, unless it is told.

// leave is called before a change that other ranks may see.
func (m *Memory) leave() {
	if invariants.Race && m.unseen {
		invariants.Leave()
	}
}

// enter is called after a look at what other ranks may have changed.
func (m *Memory) enter() {
	if invariants.Race && m.unseen {
		invariants.Enter()
	}
}

// directly does op on the number at d, which is reached directly.
func (m *Memory) directly(d []byte, op Op, k numberKind, a, b uint64) uint64 {
	m.leave()
	v := apply(d, op, k, a, b)
	m.enter()
	return v
}

// counted is the count of this rank's counter c.
func (m *Memory) counted(c int) uint64 {
	v := m.counter(c).count.Load()
	m.enter()
	return v
}
