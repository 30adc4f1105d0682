package win

import (
	"errors"
	"fmt"
	"sync"

	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/comm/rma"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/mpi/core"
	"github.com/golci/golci/internal/mpi/pure/errs"
	"github.com/golci/golci/internal/progress"
)

// system is what the windows of a rank share.
type system struct {
	m     *rma.Memory
	prog  *progress.Engine
	arena *core.Arena

	mu      sync.Mutex // guards the rest; window.mu is not taken under it
	windows map[uint64]*Window
	stopped bool
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
	s.prog = e.Progress()
	s.arena = p.Arena()
	s.m.SetUpdater(carryOut)
	if err := p.OfRank().Attach(rank.Layer{Stop: s.stop}); err != nil {
		return nil, err
	}
	return s, nil
}

// stop ends what waits, because the rank ends.
func (s *system) stop() {
	s.mu.Lock()
	s.stopped = true
	all := make([]*Window, 0, len(s.windows))
	for _, w := range s.windows {
		all = append(all, w)
	}
	s.mu.Unlock()
	for _, w := range all {
		w.end(errEnded)
	}
	s.m.Close()
}

// errEnded is of calls that wait when their rank ends.
var errEnded = errors.New("the rank has ended")

func (s *system) add(w *Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows[w.c.UID()] = w
	if s.stopped {
		w.ended = errEnded
	}
}

func (s *system) remove(w *Window) {
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
