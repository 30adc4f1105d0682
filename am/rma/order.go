package rma

import "github.com/golci/golci/internal/platform/invariants"

// Counters and atomics order what ranks do. Where processes share them the race detector sees no accesses, and so no
// order, unless it is told.

// fenceWrite is called before a change that other ranks may see.
func (m *Memory) fenceWrite() {
	if invariants.Race && m.unseen {
		invariants.Leave()
	}
}

// fenceRead is called after a look at what other ranks may have changed.
func (m *Memory) fenceRead() {
	if invariants.Race && m.unseen {
		invariants.Enter()
	}
}

// applyDirectly does op on the number at d, which is reached directly.
func (m *Memory) applyDirectly(d []byte, op Op, k numberKind, a, b uint64) uint64 {
	m.fenceWrite()
	v := applyOp(d, op, k, a, b)
	m.fenceRead()
	return v
}

// countOf is the count of this rank's counter c.
func (m *Memory) countOf(c int) uint64 {
	v := m.counter(c).count.Load()
	m.fenceRead()
	return v
}
