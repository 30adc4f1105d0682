//go:build golci_invariants || race

package hashtable

import (
	"sync/atomic"

	"github.com/golci/golci/internal/invariants"
)

// mark is atomic because the fault it looks for is two buckets, so two locks, holding one node.
type mark struct{ in atomic.Bool }

func (m *mark) enter() { invariants.Check(!m.in.Swap(true), "node entered while it is in a table") }
func (m *mark) leave() { invariants.Check(m.in.Swap(false), "node left a table it was not in") }
