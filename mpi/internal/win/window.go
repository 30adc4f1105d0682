package win

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/signature"
)

// Flavor tells how a window was made, by its number in the ABI (12.2.6).
type Flavor int

// Flavors.
const (
	Created   Flavor = 311 // of memory of the program
	Allocated Flavor = 312 // of memory that the window has made
	Dynamic   Flavor = 313 // of memory that is attached later
	Shared    Flavor = 314 // of memory that all ranks load from and store to
)

// Window is memory of the ranks of a communicator that all of them reach (12.2). Its methods may be called from any
// goroutine or thread. Epochs are of the rank, not of a thread.
type Window struct {
	// Fixed.
	c      *core.Comm // of its own
	s      *system
	flavor Flavor
	ranks  []part
	self   int
	region rma.Region       // of this rank
	base   rma.Region       // of the memory of all, at rank 0 of a shared window
	block  []byte           // of the arena, which it goes back to
	pieces *pieces          // attached memory of a dynamic window
	starts []unsafe.Pointer // by rank: where its part of a shared window begins, also if it has no bytes
	mapped []mappedMemory   // by rank: memory that is reached by loads and stores; nil: not that of all ranks

	never progress.Done // an alarm that does not go off: spins are short
	open  atomic.Int64  // what the epoch allows, for accesses that do not ask it; written under mu
	fence atomic.Uint32 // orders memory; see Flush

	mu        sync.Mutex // guards the rest; nothing blocks under it
	epoch     *epoch.Window
	pending   []underway // by target
	lock      lockState  // of this rank's memory
	forfeited []int      // by target: locks to come that nobody waits for any more
	// unchecked tells of targets that are locked without a lock, by the assertion; nil: none was.
	unchecked []bool
	// counts are the notices that have come, by rank and kind. usedUp are those of them that a call has waited for.
	counts  []noticeCounts
	usedUp  [][len(noticeCounts{})]uint64
	waiters []*waiter
	freed   bool
}

// part is a rank's part of a window, as all ranks know it. It travels.
type part struct {
	world  int64 // the rank in the job
	region int64
	size   int64 // bytes
	unit   int64 // of displacements, in bytes
	skip   int64 // bytes of the region before the window's memory
	failed int64 // a class of errors: the rank could not make its part
}

// Create makes a window of size bytes at base, which may be nil if there are none, with displacements in units of unit
// bytes (12.2.1). The memory must stay where it is until Free. Collective over c; it waits. Errors: errs.Comm,
// errs.Size, errs.Disp, errs.Arg, and those of communication. If one rank fails, all do.
func Create(c *core.Comm, base unsafe.Pointer, size, unit int64) (*Window, error) {
	return build(c, "Win_create", Created, size, unit, func(w *Window) (mem []byte, err error) {
		if base == nil && size > 0 {
			return nil, fmt.Errorf("%w: no memory for %d bytes", errs.Arg, size)
		}
		mem = unsafe.Slice((*byte)(base), size)
		w.region, err = w.s.m.AddRegion(mem, false)
		return mem, err
	})
}

// Allocate makes a window of new memory (12.2.2). Otherwise it is like Create. errs.NoMem: there is none.
func Allocate(c *core.Comm, size, unit int64) (*Window, error) {
	return build(c, "Win_allocate", Allocated, size, unit, func(w *Window) (mem []byte, err error) {
		if size > maxSize {
			return nil, fmt.Errorf("%w: %d bytes", errs.NoMem, size)
		}
		head := headSize(c.Size())
		if w.block, err = w.s.arena.Take(head + size); err != nil {
			return nil, fmt.Errorf("%w: %w", errs.NoMem, err)
		}
		clear(w.block[:head])
		mem = w.block[: head+size : head+size]
		w.region, err = w.s.m.AddRegion(mem, true)
		return mem, err
	})
}

// NewDynamic makes a window without memory, to which Attach adds some (12.2.4). Displacements are addresses.
func NewDynamic(c *core.Comm) (*Window, error) {
	return build(c, "Win_create_dynamic", Dynamic, 0, 1, func(w *Window) (_ []byte, err error) {
		w.pieces = new(pieces)
		w.region, err = w.s.m.AddPieces(w.pieces.findBytes)
		return nil, err
	})
}

// build makes a window whose memory f makes. All ranks learn of the others' parts, and whether one has failed.
func build(
	c *core.Comm, what string, flavor Flavor, size, unit int64, f func(w *Window) ([]byte, error),
) (*Window, error) {
	own, err := c.DupFor(what)
	if err != nil {
		return nil, err
	}
	w := &Window{c: own, flavor: flavor, self: own.Rank()}
	mine := part{size: size, unit: unit}
	if err = w.beginPart(f, &mine); err != nil {
		mine.failed = int64(max(errs.Of(err), errs.Buffer))
	}
	if w.ranks, err = gather(own, what, mine, err); err != nil {
		w.discardWindow()
		return nil, err
	}
	w.forgetRegions()
	if flavor == Allocated {
		err = w.meetRanks(what)
	} else {
		err = own.Barrier()
	}
	if err != nil { // all have added the window, before anybody tells of it
		w.discardWindow()
		return nil, err
	}
	return w, nil
}

// maxSize is more than there is.
const maxSize = 1 << 48

// beginPart makes this rank's part of the window.
func (w *Window) beginPart(f func(w *Window) ([]byte, error), mine *part) (err error) {
	switch {
	case mine.size < 0:
		return fmt.Errorf("%w: %d bytes", errs.Size, mine.size)
	case mine.unit <= 0:
		return fmt.Errorf("%w: units of %d bytes", errs.Disp, mine.unit)
	}
	if w.s, err = systemOf(w.c.Proc()); err != nil {
		return err
	}
	n := w.c.Size()
	w.epoch = epoch.New(w.self, n)
	w.pending, w.forfeited = make([]underway, n), make([]int, n)
	w.counts, w.usedUp = make([]noticeCounts, n), make([][len(noticeCounts{})]uint64, n)
	if _, err = f(w); err != nil {
		return err
	}
	world, err := w.c.WorldRank(w.self)
	mine.world, mine.region = int64(world), int64(w.region)
	if w.flavor == Allocated {
		mine.skip = headSize(n)
	}
	w.s.addWindow(w)
	return err
}

// discardWindow lets go of a window that could not be made, or that has been freed.
func (w *Window) discardWindow() {
	if w.s != nil {
		w.s.removeWindow(w)
		w.forgetRegions()
		if w.region != 0 {
			w.s.m.RemoveRegion(w.region)
		}
		if w.base != 0 {
			w.s.m.RemoveRegion(w.base)
		}
		w.s.arena.Give(w.block)
	}
	_ = w.c.Free()
}

// forgetRegions drops what this rank knows of the others' regions. Other windows may have had their numbers, or may
// soon have them. So a call that makes or frees a window does it before its barrier.
func (w *Window) forgetRegions() {
	for r, p := range w.ranks {
		if r != w.self { // RemoveRegion does that
			w.s.m.ForgetRegion(int(p.world), rma.Region(p.region))
		}
	}
}

// partElem is of the elements that gather sends.
var partElem = signature.NewElem(reflect.TypeFor[part]())

// gather tells all ranks of c the parts of all. If one could not make its part, all get an error: err itself where it
// is.
func gather(c *core.Comm, what string, mine part, err error) ([]part, error) {
	all := make([]part, c.Size())
	e := c.Do(&argument.Description{
		Kind: argument.KindAllgather, What: what, Elem: partElem,
		In: argument.SideOf([]part{mine}), Out: argument.SideOf(all),
	})
	if e != nil {
		return nil, e
	}
	if err != nil {
		return nil, c.Errorf(what, ": %w", err)
	}
	for r, p := range all {
		if p.failed != 0 {
			return nil, c.Errorf(what, ": %w: rank %d has failed", errs.Class(p.failed), r)
		}
	}
	return all, nil
}

// Free ends the window (12.2.5). Collective; it waits until all ranks have called it. errs.RMASync: an epoch is open.
func (w *Window) Free() error {
	if err := w.allow(epoch.Free, epoch.Args{}); err != nil {
		return err
	}
	if err := w.settleAll(); err != nil {
		return err
	}
	w.forgetRegions()
	if err := w.c.BarrierFor("Win_free"); err != nil {
		return err
	}
	w.mu.Lock()
	w.freed = true
	w.mu.Unlock()
	w.discardWindow()
	return nil
}

// Comm is the communicator of the window's own, with the ranks of the one that it was made of.
func (w *Window) Comm() *core.Comm { return w.c }

// Flavor tells how the window was made.
func (w *Window) Flavor() Flavor { return w.flavor }

// Memory is this rank's memory of the window, nil of a dynamic one; Unit is its unit of displacements in bytes.
func (w *Window) Memory() []byte {
	mem, _ := w.s.m.OwnRegion(w.region)
	if skip := w.ranks[w.self].skip; int64(len(mem)) >= skip {
		return mem[skip:]
	}
	return nil
}

// Size is the number of bytes of this rank's memory.
func (w *Window) Size() int64 { return w.ranks[w.self].size }

// Unit is the unit of displacements of this rank, in bytes.
func (w *Window) Unit() int64 { return w.ranks[w.self].unit }

// winErrorf makes the error of a call on the window.
func (w *Window) winErrorf(what string, err error) error {
	if err == nil {
		return nil
	}
	return w.c.Errorf(what, ": %w", classified(err))
}

// allow tells whether the epoch allows a call.
func (w *Window) allow(c epoch.Call, a epoch.Args) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.allowed(c, a)
}

// allowed is allow with mu held.
func (w *Window) allowed(c epoch.Call, a epoch.Args) error {
	if w.freed {
		return fmt.Errorf("%w: it has been freed", errs.Win)
	}
	return w.epoch.Check(c, a)
}

// doEpoch goes to the next epoch.
func (w *Window) doEpoch(c epoch.Call, a epoch.Args) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.enterEpoch(c, a)
}

// enterEpoch is do with mu held.
func (w *Window) enterEpoch(c epoch.Call, a epoch.Args) error {
	err := w.epoch.Do(c, a)
	target, passive := w.epoch.Open()
	open := int64(target-epoch.NoTarget) << 1
	if passive {
		open |= 1
	}
	w.open.Store(open)
	return err
}

// opened tells without a lock that the epoch allows accesses to a rank; false: it must be asked. The program orders its
// accesses after the call that has opened the epoch. So a thread that may make an access sees what that call stored.
func (w *Window) opened(rank int, passive bool) bool {
	open := w.open.Load()
	target := int(open>>1) + epoch.NoTarget
	reached := target == rank || target == epoch.AnyTarget
	return reached && uint(rank) < uint(len(w.ranks)) && (open&1 != 0 || !passive)
}
