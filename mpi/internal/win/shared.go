package win

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
)

// AllocateShared makes a window of memory that all ranks of c load from and store to (12.2.3). The parts lie one behind
// the other in the order of the ranks; one of no bytes begins where the next one does. Otherwise it is like
// Allocate. errs.RMAShared: the ranks cannot share memory.
func AllocateShared(c *core.Comm, size, unit int64) (*Window, error) {
	const what = "Win_allocate_shared"
	own, err := c.DupFor(what)
	if err != nil {
		return nil, err
	}
	w := &Window{c: own, flavor: Shared, self: own.Rank()}
	mine := part{size: size, unit: unit}
	if err = w.beginPart(func(*Window) ([]byte, error) { return nil, nil }, &mine); err != nil {
		mine.failed = int64(max(errs.Of(err), errs.Buffer))
	}
	parts, err := gather(own, what, mine, err)
	if err == nil {
		err = w.divide(what, parts)
	}
	if err == nil {
		err = own.Barrier()
	}
	if err != nil {
		w.discardWindow()
		return nil, err
	}
	return w, nil
}

// divide has rank 0 allocate the memory of all, and the others map it.
func (w *Window) divide(what string, parts []part) error {
	total := int64(0)
	for _, p := range parts {
		total += p.size
	}
	m := w.s.m
	whole, err := part{world: parts[0].world, size: total}, error(nil)
	var base rma.Region // of the whole memory, at rank 0
	if w.self == 0 {
		if total > maxSize {
			err = fmt.Errorf("%w: %d bytes", errs.NoMem, total)
		} else if w.block, err = w.s.arena.Take(heads(len(parts)) + total + 1); err == nil {
			clear(w.block[:heads(len(parts))])
			base, err = m.AddRegion(w.block, true)
		}
		if whole.region = int64(base); err != nil {
			whole.failed, err = int64(errs.NoMem), fmt.Errorf("%w: %w", errs.NoMem, err)
		}
	}
	wholes, err := gather(w.c, what, whole, err)
	if err != nil {
		return err
	}
	mem := w.block
	if w.self != 0 {
		m.ForgetRegion(int(parts[0].world), rma.Region(wholes[0].region)) // of a former window
		mem, err = m.MappedRegion(int(parts[0].world), rma.Region(wholes[0].region))
		if err == nil && mem == nil {
			err = fmt.Errorf("%w: the memory of rank 0 is out of reach", errs.RMAShared)
		}
	}
	head := mem
	if err == nil {
		mem = mem[heads(len(parts)):]
		err = w.ownPart(mem, parts)
	}
	mine := parts[w.self]
	if mine.region = int64(w.region); err != nil {
		mine.failed = int64(max(errs.Of(err), errs.Buffer))
	}
	if w.ranks, err = gather(w.c, what, mine, err); err != nil {
		return err
	}
	at := int64(0)
	all := make([]mappedMemory, len(w.ranks))
	w.starts = make([]unsafe.Pointer, len(w.ranks))
	for r, p := range w.ranks {
		m.ReachRegion(int(p.world), rma.Region(p.region), mem[at:][:p.size])
		w.starts[r] = unsafe.Pointer(&mem[at]) // there is a byte behind the last part
		all[r] = mappedAt(head[int64(r)*headSize(len(all)):], mem[at:][:p.size:p.size], len(all))
		at += p.size
	}
	w.setMapped(all)
	if w.self != 0 { // the mapping is kept by the parts
		m.ForgetRegion(int(parts[0].world), rma.Region(wholes[0].region))
		return nil
	}
	w.base = base
	return nil
}

// ownPart makes the region of this rank's part of the memory of all.
func (w *Window) ownPart(mem []byte, parts []part) (err error) {
	at := int64(0)
	for _, p := range parts[:w.self] {
		at += p.size
	}
	w.region, err = w.s.m.AddRegion(mem[at:][:parts[w.self].size], false)
	return err
}

// Query gives the memory of a rank as this rank reaches it by loads and stores, and its unit (12.2.3). For
// epoch.ProcNull it is that of the first rank with any memory. Memory of windows of other flavors is nil where it is
// out of reach. errs.Rank: there is no such rank. errs.RMAFlavor: the window is dynamic.
func (w *Window) Query(rank int) (mem []byte, unit int64, err error) {
	const what = "Win_shared_query"
	if w.flavor == Dynamic {
		return nil, 0, w.winErrorf(what, fmt.Errorf("%w: it is dynamic", errs.RMAFlavor))
	}
	rank = w.askedRank(rank)
	if uint(rank) >= uint(len(w.ranks)) {
		return nil, 0, w.winErrorf(what, fmt.Errorf("%w: %d of %d", errs.Rank, rank, len(w.ranks)))
	}
	p := w.ranks[rank]
	if rank == w.self {
		return w.Memory(), p.unit, nil
	}
	mem, err = w.s.m.MappedRegion(int(p.world), rma.Region(p.region))
	if err != nil || mem == nil {
		return nil, p.unit, w.winErrorf(what, err)
	}
	return mem[p.skip:], p.unit, nil
}

// askedRank is the rank whose memory a query is for.
func (w *Window) askedRank(rank int) int {
	if rank != epoch.ProcNull {
		return rank
	}
	rank = 0
	for rank < len(w.ranks)-1 && w.ranks[rank].size == 0 {
		rank++
	}
	return rank
}

// Address is where the memory begins that Query gives for a rank. In a shared window a part of no bytes has a place,
// too: that where it would begin. nil: the rank has no memory, or it is out of reach, or there is no such rank.
func (w *Window) Address(rank int) unsafe.Pointer {
	if rank = w.askedRank(rank); uint(rank) < uint(len(w.starts)) {
		return w.starts[rank]
	}
	mem, _, err := w.Query(rank)
	if err != nil || len(mem) == 0 {
		return nil
	}
	return unsafe.Pointer(&mem[0])
}

// classified gives an error of package rma its class.
func classified(err error) error {
	for _, c := range [...]struct {
		err   error
		class errs.Class
	}{
		{rma.ErrRefused, errs.RMARange},
		{rma.ErrBounds, errs.RMARange},
		{rma.ErrPeer, errs.ProcFailed},
		{rma.ErrRegions, errs.Other},
	} {
		if errors.Is(err, c.err) {
			return fmt.Errorf("%w: %w", c.class, err)
		}
	}
	return err
}
