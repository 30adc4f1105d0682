//go:build golci_invariants || race

package hashtable

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/invariants"
)

// mark tells whether a node is in a table. It is atomic, to find a node that is in two buckets.
type mark struct{ in atomic.Bool }

func (m *mark) enterMark() { invariants.Check(!m.in.Swap(true), "node entered while it is in a table") }
func (m *mark) leaveMark() { invariants.Check(m.in.Swap(false), "node left a table it was not in") }
