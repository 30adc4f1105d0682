package win

import (
	"fmt"
	"sync"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/arena"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/rank"
)

// system is what the windows of a rank share.
type system struct {
	m     *rma.Memory
	arena *arena.Arena

	mu      sync.Mutex // guards the rest; window.mu is not taken under it
	windows map[uint64]*Window
}

// segment is the memory that package rma wants, and nobody uses.
const segment = 64

// systemOf gives the system of a rank, and makes it at the first window.
func systemOf(p *core.Proc) (*system, error) {
	w, err := p.Windows(func() (core.Windows, error) { return newSystem(p) })
	if err != nil {
		return nil, err
	}
	return w.(*system), nil
}

func newSystem(p *core.Proc) (*system, error) {
	s := &system{windows: make(map[uint64]*Window)}
	e := p.OfRank().Endpoint()
	var err error
	e.AsPoller(func() { s.m, err = rma.New(e, rma.Config{SegmentSize: segment, Counters: 1}) })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errs.Other, err)
	}
	s.arena = p.Arena()
	s.m.SetUpdater(carryOut)
	if err := p.OfRank().Attach(rank.Layer{Stop: s.m.Close}); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *system) addWindow(w *Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows[w.c.UID()] = w
}

func (s *system) removeWindow(w *Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.windows, w.c.UID())
}

// Noticed implements core.Windows.
func (s *system) Noticed(uid uint64, from int, what, arg uint64, worker *fult.Worker) {
	s.mu.Lock()
	w := s.windows[uid]
	s.mu.Unlock()
	if w != nil && uint(from) < uint(len(w.ranks)) {
		w.noticed(from, notice(what), arg, worker)
	}
}
