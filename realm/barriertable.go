package realm

import (
	"sync"
	"sync/atomic"

	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/event"
)

// barriers has the barriers that this rank has made, and those of others that it has heard of. Those that were
// destroyed leave it.
type barriers struct {
	own    atomic.Pointer[[]*barrierPage] // by index; replaced under mu. A page of which all cells are gone is nil
	mu     sync.RWMutex                   // guards what follows
	made   int                            // by this rank
	others map[event.ID]*barrierCell

	// Of others, which this rank has owned and forgotten: others may still send messages for the owner. The newest
	// keptEnds are kept, the oldest is at next once there are so many.
	ends map[event.ID]bool
	ring []event.ID
	next int
}

const (
	pageBarriers = 256
	keptEnds     = 4096
)

// barrierPage is some barriers in a row.
type barrierPage struct {
	cells [pageBarriers]atomic.Pointer[barrierCell] // nil: not made, or destroyed. Stored under mu
	ended int                                       // how many have been destroyed, under mu
}

// create makes a barrier of this rank.
func (bs *barriers) create(rt *rankEvents, count int64, op uint32, size int) (*barrierCell, error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.made > event.MaxBarrierIndex {
		return nil, rt.callErrorf("NewBarrier", "%d barriers of this rank", bs.made)
	}
	id := event.MakeBarrier(rt.rank, bs.made, 0)
	c := &barrierCell{rt: rt, id: id, trace: rt.log.DrawPhases(id)}
	var err error
	if c.core, err = barrier.New(rt.barrierConfig(c.id), count, op, size); err != nil {
		return nil, err
	}
	var pages []*barrierPage
	if p := bs.own.Load(); p != nil {
		pages = *p
	}
	if bs.made%pageBarriers == 0 {
		pages = append(pages, new(barrierPage)) // nobody looks behind the length that a rank has loaded
		bs.own.Store(&pages)
	}
	pages[bs.made/pageBarriers].cells[bs.made%pageBarriers].Store(c)
	bs.made++
	return c, nil
}

// ownCell is the barrier of this rank with that index; nil if there is none.
func (bs *barriers) ownCell(index int) *barrierCell {
	pages := bs.own.Load()
	if pages == nil || index/pageBarriers >= len(*pages) {
		return nil
	}
	if p := (*pages)[index/pageBarriers]; p != nil {
		return p.cells[index%pageBarriers].Load()
	}
	return nil
}

// findBarrier is the barrier of an event; nil if there is none. Of a barrier that another rank has made it makes the
// part of this rank if asked to, unless it knows that the barrier was destroyed.
func (bs *barriers) findBarrier(rt *rankEvents, e event.ID, create bool) *barrierCell {
	e &^= event.MaxBarrierGen
	switch {
	case e.Kind() != event.Barrier || e.Rank() >= rt.size:
		return nil
	case e.Rank() == rt.rank:
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
		c = &barrierCell{rt: rt, id: e, core: barrier.NewReplica(rt.barrierConfig(e)), trace: rt.log.DrawPhases(e)}
		if bs.others == nil {
			bs.others = make(map[event.ID]*barrierCell)
		}
		bs.others[e] = c
	}
	return c
}

// goneWhy tells why there is no barrier of that name here, which find has not found; empty if this rank does not know.
func (bs *barriers) goneWhy(rt *rankEvents, id event.ID) string {
	bs.mu.RLock()
	defer bs.mu.RUnlock()
	switch {
	case id.Rank() == rt.rank && id.Index() >= bs.made:
		return barrier.NotMade
	case id.Rank() == rt.rank, bs.ends[id]:
		return barrier.Destroyed
	}
	return ""
}

// dropDestroyed takes out a barrier that was destroyed, if that has not been done. owned says that this rank has been
// its owner.
func (bs *barriers) dropDestroyed(c *barrierCell, owned bool) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if c.id.Rank() != c.rt.rank {
		if bs.others[c.id] != c {
			return
		}
		if delete(bs.others, c.id); owned {
			bs.remember(c.id)
		}
		return
	}
	pages := *bs.own.Load()
	p := pages[c.id.Index()/pageBarriers]
	if p == nil || !p.cells[c.id.Index()%pageBarriers].CompareAndSwap(c, nil) {
		return
	}
	if p.ended++; p.ended == pageBarriers {
		bs.dropPage(c.id.Index() / pageBarriers)
	}
}

// dropPage takes out a page that is used up. bs.mu is held.
func (bs *barriers) dropPage(n int) {
	pages := append([]*barrierPage(nil), *bs.own.Load()...)
	pages[n] = nil
	bs.own.Store(&pages)
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

// eachBarrier calls f for all barriers that this rank knows.
func (bs *barriers) eachBarrier(f func(c *barrierCell)) {
	bs.mu.RLock()
	var all []*barrierCell
	if pages := bs.own.Load(); pages != nil {
		for _, p := range *pages {
			for i := 0; p != nil && i < pageBarriers; i++ {
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
