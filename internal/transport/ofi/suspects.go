//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"slices"
	"sync"
	"sync/atomic"
)

// suspects are peers that another layer reports dead. The next progress pass probes them. The caller of
// Suspect must not wait for Conduit.mu: spinning ranks take turns at it, and calls to a dead peer are slow.
type suspects struct {
	n  atomic.Int32 // how many there are
	mu sync.Mutex   // held for a moment only
	// Under mu.
	list []int
}

func (d *suspects) addSuspect(p int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.list, p) {
		d.list = append(d.list, p)
		d.n.Store(int32(len(d.list)))
	}
}

func (d *suspects) takeSuspects() []int {
	if d.n.Load() == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	d.n.Store(0)
	return list
}
