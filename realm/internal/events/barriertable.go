package events

import (
	"sync"
	"sync/atomic"

	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
)

// barriers has the barriers that this rank has made, and those of others that it has heard of. Those that were
// destroyed leave it.
type barriers struct {
	Own    atomic.Pointer[[]*barrierPage] // by index; replaced under mu. A page of which all cells are gone is nil
	mu     sync.RWMutex                   // guards what follows
	made   int                            // by this rank
	others map[event.ID]*BarrierCell

	// Of others, which this rank has owned and forgotten: others may still send messages for the owner. The newest
	// keptEnds are kept, the oldest is at next once there are so many.
	ends map[event.ID]bool
	ring []event.ID
	next int
}

const (
	PageBarriers = 256
	keptEnds     = 4096
)

// barrierPage is some barriers in a row.
type barrierPage struct {
	cells [PageBarriers]atomic.Pointer[BarrierCell] // nil: not made, or destroyed. Stored under mu
	ended int                                       // how many have been destroyed, under mu
}

// Create makes a barrier of this rank.
func (bs *barriers) Create(rt *Rank, count int64, op uint32, size int) (*BarrierCell, error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.made > event.MaxBarrierIndex {
		return nil, rt.CallErrorf("NewBarrier", "%d barriers of this rank", bs.made)
	}
	id := event.MakeBarrier(rt.Self, bs.made, 0)
	c := &BarrierCell{Rank: rt, ID: id, Trace: rt.Log.DrawPhases(id)}
	var err error
	if c.Core, err = barrier.New(rt.barrierConfig(c.ID), count, op, size); err != nil {
		return nil, err
	}
	var pages []*barrierPage
	if p := bs.Own.Load(); p != nil {
		pages = *p
	}
	if bs.made%PageBarriers == 0 {
		pages = append(pages, new(barrierPage)) // nobody looks behind the length that a rank has loaded
		bs.Own.Store(&pages)
	}
	pages[bs.made/PageBarriers].cells[bs.made%PageBarriers].Store(c)
	bs.made++
	return c, nil
}

// ownCell is the barrier of this rank with that index; nil if there is none.
func (bs *barriers) ownCell(index int) *BarrierCell {
	pages := bs.Own.Load()
	if pages == nil || index/PageBarriers >= len(*pages) {
		return nil
	}
	if p := (*pages)[index/PageBarriers]; p != nil {
		return p.cells[index%PageBarriers].Load()
	}
	return nil
}

// FindBarrier is the barrier of an event; nil if there is none. Of a barrier that another rank has made it makes the
// part of this rank if asked to, unless it knows that the barrier was destroyed.
func (bs *barriers) FindBarrier(rt *Rank, e event.ID, create bool) *BarrierCell {
	e &^= event.MaxBarrierGen
	switch {
	case e.Kind() != event.Barrier || e.Rank() >= rt.Size:
		return nil
	case e.Rank() == rt.Self:
		return bs.ownCell(e.Index())
	}
	bs.mu.RLock()
	c := bs.others[e]
	bs.mu.RUnlock()
	if c != nil || !create {
		return c
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if c = bs.others[e]; c == nil && !bs.ends[e] {
		c = &BarrierCell{Rank: rt, ID: e, Core: barrier.NewReplica(rt.barrierConfig(e)), Trace: rt.Log.DrawPhases(e)}
		if bs.others == nil {
			bs.others = make(map[event.ID]*BarrierCell)
		}
		bs.others[e] = c
	}
	return c
}

// goneWhy tells why there is no barrier of that name here, which find has not found; empty if this rank does not know.
func (bs *barriers) goneWhy(rt *Rank, id event.ID) string {
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	switch {
	case id.Rank() == rt.Self && id.Index() >= bs.made:
		return barrier.NotMade
	case id.Rank() == rt.Self, bs.ends[id]:
		return barrier.Destroyed
	}
	return ""
}

// dropDestroyed takes out a barrier that was destroyed, if that has not been done. owned says that this rank has been
// its owner.
func (bs *barriers) dropDestroyed(c *BarrierCell, owned bool) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if c.ID.Rank() != c.Rank.Self {
		if bs.others[c.ID] != c {
			return
		}
		if delete(bs.others, c.ID); owned {
			bs.remember(c.ID)
		}
		return
	}
	pages := *bs.Own.Load()
	p := pages[c.ID.Index()/PageBarriers]
	if p == nil || !p.cells[c.ID.Index()%PageBarriers].CompareAndSwap(c, nil) {
		return
	}
	if p.ended++; p.ended == PageBarriers {
		bs.dropPage(c.ID.Index() / PageBarriers)
	}
}

// dropPage takes out a page that is used up. bs.mu is held.
func (bs *barriers) dropPage(n int) {
	pages := append([]*barrierPage(nil), *bs.Own.Load()...)
	pages[n] = nil
	bs.Own.Store(&pages)
}

// remember keeps the name of a barrier of which this rank has nothing else. bs.mu is held.
func (bs *barriers) remember(id event.ID) {
	if bs.ends == nil {
		bs.ends = make(map[event.ID]bool)
	}
	bs.ends[id] = true
	if len(bs.ring) < keptEnds {
		bs.ring = append(bs.ring, id)
		return
	}
	delete(bs.ends, bs.ring[bs.next])
	bs.ring[bs.next] = id
	bs.next = (bs.next + 1) % keptEnds
}

// EachBarrier calls f for all barriers that this rank knows.
func (bs *barriers) EachBarrier(f func(c *BarrierCell)) {
	bs.mu.RLock()
	var all []*BarrierCell
	if pages := bs.Own.Load(); pages != nil {
		for _, p := range *pages {
			for i := 0; p != nil && i < PageBarriers; i++ {
				if c := p.cells[i].Load(); c != nil {
					all = append(all, c)
				}
			}
		}
	}
	for _, c := range bs.others {
		all = append(all, c)
	}
	bs.mu.RUnlock()
	for _, c := range all {
		f(c)
	}
}
