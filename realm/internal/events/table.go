package events

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/request"
	"github.com/golci/golci/realm/internal/event"
)

// Cell is a slot of this rank with its lock.
type Cell struct {
	Lock   spin.Lock // guards slot and expect; nothing is taken under it
	Index  uint32    // in the table; it does not change
	Expect int32     // the rank, plus 1, whose operation is to trigger the generation that is alive; or none, indexed
	Slot   event.Slot
}

const PageCells = 1024

// Values of expect beside ranks.
const (
	None    int32 = 0  // no operation is known
	Indexed int32 = -1 // one of this rank, which is in waiting
	Once    int32 = -2 // the same, whose memory is not used again
)

type page struct {
	cells [PageCells]Cell

	// waiting has the operations that are to trigger the events, by cell. It is nil until there is one that waits for an
	// event. The lock of the cell guards an element, which is valid where expect is not none.
	waiting atomic.Pointer[[PageCells]WaitsFor]
}

// WaitsFor is what an operation waits for, and by what: its precondition, or several by a merger.
type WaitsFor struct {
	Of event.ID      // 0: several, or nothing
	By *event.Waiter // nil if another rank does the operation
}

// WaitingOf is the place for the operation of c; nil if its page has none yet.
func (t *Table) WaitingOf(c *Cell) *WaitsFor {
	all := (*t.Pages.Load())[c.Index/PageCells].waiting.Load()
	if all == nil {
		return nil
	}
	return &all[c.Index%PageCells]
}

// makeWaiting is WaitingOf, which it makes.
func (t *Table) makeWaiting(c *Cell) *WaitsFor {
	if at := t.WaitingOf(c); at != nil {
		return at
	}
	(*t.Pages.Load())[c.Index/PageCells].waiting.CompareAndSwap(nil, new([PageCells]WaitsFor))
	return t.WaitingOf(c)
}

// Precede notes that an operation on another rank, which finishes with e, waits for after.
func (t *Table) Precede(e, after event.ID) {
	if after == 0 {
		return
	}
	c := t.CellAt(e.EventIndex())
	at := t.makeWaiting(c)
	c.Lock.Lock()
	*at = WaitsFor{Of: after}
	c.Lock.Unlock()
}

// Preceding is the precondition that precede has noted for c, whose lock is held.
func (t *Table) Preceding(c *Cell) event.ID {
	if at := t.WaitingOf(c); at != nil {
		return at.Of
	}
	return 0
}

// noteEnded notes that the operation of c, which is in waiting, is over. The lock of c is held.
func (t *Table) noteEnded(c *Cell) {
	if c.Expect == Once {
		*t.WaitingOf(c) = WaitsFor{} // the operation may have much memory
	}
	c.Expect = None
}

// Table has the events that this rank owns. It only grows; cells that are not alive are used again.
type Table struct {
	Pages atomic.Pointer[[]*page] // replaced under mu
	free  request.Pool[Cell]      // neither alive nor retired
	mu    sync.Mutex              // nothing but the lock of a cell is taken under it

	retired event.Retired // cells that wait for their outcomes to be forgotten; under mu
}

// Retire keeps what is to be known of c, which has no further generation for now. An older one is forgotten for it, and
// goes on.
func (t *Table) Retire(c *Cell) {
	c.Lock.Lock()
	keeps := c.Slot.Retire()
	c.Lock.Unlock()
	if !keeps {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if oldest, full := t.retired.Add(int(c.Index)); full {
		t.forgetOutcomes(t.CellAt(oldest))
	}
}

// forgetOutcomes forgets the outcomes of a cell that has been retired.
func (t *Table) forgetOutcomes(c *Cell) {
	c.Lock.Lock()
	c.Slot.Forget()
	over := c.Slot.Retired()
	c.Lock.Unlock()
	if !over {
		t.free.Put(c)
	}
}

// expectSubscription notes that a rank that triggers e has subscribed to it before.
func (t *Table) expectSubscription(e event.ID, rank int) {
	if c := t.CellAt(e.EventIndex()); c != nil {
		c.Lock.Lock()
		c.Slot.Expect(e.Gen(), int32(rank))
		c.Lock.Unlock()
	}
}

// CellAt is the cell with that index, nil if there is none.
func (t *Table) CellAt(index int) *Cell {
	pages := t.Pages.Load()
	if pages == nil || index>>10 >= len(*pages) {
		return nil
	}
	return &(*pages)[index>>10].cells[index&(PageCells-1)]
}

// GetCell takes a free cell.
func (t *Table) GetCell() *Cell {
	if c := t.free.Get(); c != nil {
		return c
	}
	return t.growPage()
}

// growPage makes a page, and returns one of its cells.
func (t *Table) growPage() *Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pages []*page
	if old := t.Pages.Load(); old != nil {
		pages = *old
	}
	if len(pages)*PageCells > event.MaxIndex {
		panic(fmt.Sprintf("realm: %d events of this rank have not triggered, or cannot be used again",
			len(pages)*PageCells))
	}
	p := new(page)
	for i := range p.cells {
		p.cells[i].Index = uint32(len(pages)*PageCells + i)
	}
	pages = append(pages[:len(pages):len(pages)], p)
	t.Pages.Store(&pages)
	for i := PageCells - 1; i > 0; i-- {
		t.free.Put(&p.cells[i])
	}
	return &p.cells[0]
}

// EachCell calls f for all cells.
func (t *Table) EachCell(f func(c *Cell)) {
	pages := t.Pages.Load()
	if pages == nil {
		return
	}
	for _, p := range *pages {
		for i := range p.cells {
			f(&p.cells[i])
		}
	}
}

// NewEvent creates an event of this rank.
func (rt *Rank) NewEvent() event.ID { return rt.NewEventBy(Nobody) }

// NewEventBy creates an event that an operation on another rank is to trigger; the death of that rank ends it. If
// the operation waits for an event, the caller goes on with precede.
func (rt *Rank) NewEventBy(rank int) event.ID {
	c := rt.Events.GetCell()
	c.Lock.Lock()
	gen := c.Slot.Create()
	if c.Expect = int32(rank) + 1; rank != Nobody {
		if at := rt.Events.WaitingOf(c); at != nil {
			*at = WaitsFor{}
		}
	}
	c.Lock.Unlock()
	return event.MakeEvent(rt.Self, int(c.Index), gen)
}

// NewEventAfter is NewEventFor an operation that was made for this once, or NewEvent if of is 0.
func (rt *Rank) NewEventAfter(of event.ID, w *event.Waiter) event.ID {
	if of == 0 {
		return rt.NewEvent()
	}
	return rt.NewEventFor(of, w, Once)
}

// NewEventFor creates the event of an operation of this rank, which is about to wait for the event of by w. If it waits
// for several, w is part of its merger. how is indexed or once.
func (rt *Rank) NewEventFor(of event.ID, w *event.Waiter, how int32) event.ID {
	c := rt.Events.GetCell()
	at := rt.Events.WaitingOf(c)
	if at == nil {
		at = rt.Events.makeWaiting(c)
	}
	c.Lock.Lock()
	gen := c.Slot.Create()
	c.Expect = how
	*at = WaitsFor{of, w}
	c.Lock.Unlock()
	return event.MakeEvent(rt.Self, int(c.Index), gen)
}
