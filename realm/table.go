package realm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/request"
	"github.com/golci/golci/realm/internal/event"
)

// cell is a slot of this rank with its lock.
type cell struct {
	lock   spin.Lock // guards slot and expect; nothing is taken under it
	index  uint32    // in the table; it does not change
	expect int32     // the rank, plus 1, whose operation is to trigger the generation that is alive; or none, indexed
	slot   event.Slot
}

const pageCells = 1024

// Values of expect beside ranks.
const (
	none    int32 = 0  // no operation is known
	indexed int32 = -1 // one of this rank, which is in waiting
	once    int32 = -2 // the same, whose memory is not used again
)

type page struct {
	cells [pageCells]cell

	// waiting has the operations that are to trigger the events, by cell. It is nil until there is one that waits for an
	// event. The lock of the cell guards an element, which is valid where expect is not none.
	waiting atomic.Pointer[[pageCells]waitsFor]
}

// waitsFor is what an operation waits for, and by what: its precondition, or several by a merger.
type waitsFor struct {
	of event.ID      // 0: several, or nothing
	w  *event.Waiter // nil if another rank does the operation
}

// waitingOf is the place for the operation of c; nil if its page has none yet.
func (t *table) waitingOf(c *cell) *waitsFor {
	all := (*t.pages.Load())[c.index/pageCells].waiting.Load()
	if all == nil {
		return nil
	}
	return &all[c.index%pageCells]
}

// makeWaiting is waitingOf, which it makes.
func (t *table) makeWaiting(c *cell) *waitsFor {
	if at := t.waitingOf(c); at != nil {
		return at
	}
	(*t.pages.Load())[c.index/pageCells].waiting.CompareAndSwap(nil, new([pageCells]waitsFor))
	return t.waitingOf(c)
}

// precede notes that an operation on another rank, which finishes with e, waits for after.
func (t *table) precede(e, after event.ID) {
	if after == 0 {
		return
	}
	c := t.cellAt(e.EventIndex())
	at := t.makeWaiting(c)
	c.lock.Lock()
	*at = waitsFor{of: after}
	c.lock.Unlock()
}

// preceding is the precondition that precede has noted for c, whose lock is held.
func (t *table) preceding(c *cell) event.ID {
	if at := t.waitingOf(c); at != nil {
		return at.of
	}
	return 0
}

// noteEnded notes that the operation of c, which is in waiting, is over. The lock of c is held.
func (t *table) noteEnded(c *cell) {
	if c.expect == once {
		*t.waitingOf(c) = waitsFor{} // the operation may have much memory
	}
	c.expect = none
}

// table has the events that this rank owns. It only grows; cells that are not alive are used again.
type table struct {
	pages atomic.Pointer[[]*page] // replaced under mu
	free  request.Pool[cell]      // neither alive nor retired
	mu    sync.Mutex              // nothing but the lock of a cell is taken under it

	retired event.Retired // cells that wait for their outcomes to be forgotten; under mu
}

// retire keeps what is to be known of c, which has no further generation for now. An older one is forgotten for it, and
// goes on.
func (t *table) retire(c *cell) {
	c.lock.Lock()
	keeps := c.slot.Retire()
	c.lock.Unlock()
	if !keeps {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if oldest, full := t.retired.Add(int(c.index)); full {
		t.forgetOutcomes(t.cellAt(oldest))
	}
}

// forgetOutcomes forgets the outcomes of a cell that has been retired.
func (t *table) forgetOutcomes(c *cell) {
	c.lock.Lock()
	c.slot.Forget()
	over := c.slot.Retired()
	c.lock.Unlock()
	if !over {
		t.free.Put(c)
	}
}

// expectSubscription notes that a rank that triggers e has subscribed to it before.
func (t *table) expectSubscription(e event.ID, rank int) {
	if c := t.cellAt(e.EventIndex()); c != nil {
		c.lock.Lock()
		c.slot.Expect(e.Gen(), int32(rank))
		c.lock.Unlock()
	}
}

// cellAt is the cell with that index, nil if there is none.
func (t *table) cellAt(index int) *cell {
	pages := t.pages.Load()
	if pages == nil || index>>10 >= len(*pages) {
		return nil
	}
	return &(*pages)[index>>10].cells[index&(pageCells-1)]
}

// getCell takes a free cell.
func (t *table) getCell() *cell {
	if c := t.free.Get(); c != nil {
		return c
	}
	return t.growPage()
}

// growPage makes a page, and returns one of its cells.
func (t *table) growPage() *cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pages []*page
	if old := t.pages.Load(); old != nil {
		pages = *old
	}
	if len(pages)*pageCells > event.MaxIndex {
		panic(fmt.Sprintf("realm: %d events of this rank have not triggered, or cannot be used again",
			len(pages)*pageCells))
	}
	p := new(page)
	for i := range p.cells {
		p.cells[i].index = uint32(len(pages)*pageCells + i)
	}
	pages = append(pages[:len(pages):len(pages)], p)
	t.pages.Store(&pages)
	for i := pageCells - 1; i > 0; i-- {
		t.free.Put(&p.cells[i])
	}
	return &p.cells[0]
}

// eachCell calls f for all cells.
func (t *table) eachCell(f func(c *cell)) {
	pages := t.pages.Load()
	if pages == nil {
		return
	}
	for _, p := range *pages {
		for i := range p.cells {
			f(&p.cells[i])
		}
	}
}

// newEvent creates an event of this rank.
func (rt *rankEvents) newEvent() event.ID { return rt.newEventBy(nobody) }

// newEventBy creates an event that an operation on another rank is to trigger; the death of that rank ends it. If
// the operation waits for an event, the caller goes on with precede.
func (rt *rankEvents) newEventBy(rank int) event.ID {
	c := rt.events.getCell()
	c.lock.Lock()
	gen := c.slot.Create()
	if c.expect = int32(rank) + 1; rank != nobody {
		if at := rt.events.waitingOf(c); at != nil {
			*at = waitsFor{}
		}
	}
	c.lock.Unlock()
	return event.MakeEvent(rt.rank, int(c.index), gen)
}

// newEventAfter is newEventFor an operation that was made for this once, or newEvent if of is 0.
func (rt *rankEvents) newEventAfter(of event.ID, w *event.Waiter) event.ID {
	if of == 0 {
		return rt.newEvent()
	}
	return rt.newEventFor(of, w, once)
}

// newEventFor creates the event of an operation of this rank, which is about to wait for the event of by w. If it waits
// for several, w is part of its merger. how is indexed or once.
func (rt *rankEvents) newEventFor(of event.ID, w *event.Waiter, how int32) event.ID {
	c := rt.events.getCell()
	at := rt.events.waitingOf(c)
	if at == nil {
		at = rt.events.makeWaiting(c)
	}
	c.lock.Lock()
	gen := c.slot.Create()
	c.expect = how
	*at = waitsFor{of, w}
	c.lock.Unlock()
	return event.MakeEvent(rt.rank, int(c.index), gen)
}
