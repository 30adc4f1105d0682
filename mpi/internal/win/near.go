package win

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/mpi/internal/errs"
)

// mappedMemory is a rank's memory as this rank reaches it by loads and stores. All ranks of a window reach that of all
// so, or none does: then accumulations exclude each other by the lock, and the target need not carry them out.
type mappedMemory struct {
	mem    []byte // of the rank's region
	lock   *spin.Lock
	counts []noticeCounts // of the notices of each rank; nil: they send messages
	asleep *atomic.Uint32 // not 0: it waits for more of that, and wants a message, too. It alone stores there
}

// meetRanks finds out whether all ranks reach the memory of all, and waits until all know.
func (w *Window) meetRanks(what string) error {
	all := make([]mappedMemory, len(w.ranks))
	reached := int64(1)
	for r, p := range w.ranks {
		mem, ok := w.s.m.OwnRegion(w.region)
		if r != w.self {
			var err error
			if mem, err = w.s.m.MappedRegion(int(p.world), rma.Region(p.region)); err != nil {
				return w.c.Errorf(what, ": %w", classified(err))
			}
			ok = mem != nil
		}
		if !ok {
			reached = 0
			break
		}
		all[r] = mappedAt(mem, mem, len(all))
	}
	of, err := gather(w.c, what, part{size: reached}, nil)
	if err != nil {
		return err
	}
	for _, p := range of {
		if p.size == 0 {
			return nil
		}
	}
	w.setMapped(all)
	return nil
}

// setMapped notes that its ranks reach the memory of all.
func (w *Window) setMapped(all []mappedMemory) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mapped = all
	if t := all[w.self].counts; t != nil {
		w.counts = t
	}
}

// takeLock takes the lock of accumulations. Its holder may be another process.
func (n *mappedMemory) takeLock() {
	for i := 0; !n.lock.TryLock(); i++ {
		if spin.Pause(i); i&turn == turn {
			affinity.Yield()
		}
	}
}

// turn is how many looks at a lock there are, less one, before another process of this core has its turn.
const turn = 255

// here is where the call's target is reached by loads and stores; nil if it is not.
func (c *call) here() *mappedMemory {
	if c.w.mapped == nil {
		return nil
	}
	return &c.w.mapped[c.to.Rank]
}

// copied copies between the runs of a target that is reached, and src or dst.
func (n *mappedMemory) copied(runs []run, src, dst []byte) {
	for _, r := range runs {
		mem := n.mem[r.off:][:r.n]
		if dst != nil {
			dst = dst[copy(dst, mem):]
		} else {
			src = src[copy(mem, src):]
		}
	}
}

// carryOut carries a program out under the lock. old gets the old elements, if they are wanted.
func (n *mappedMemory) carryOut(p program, old []byte) error {
	apart, size := stride(p.basic)
	f, ok := p.operation()
	if !ok {
		return fmt.Errorf("%w: program %d for elements of %v", errs.Intern, p.code, p.basic)
	}
	n.takeLock()
	defer n.lock.Unlock()
	for _, r := range p.runs {
		mem := n.mem[r.off:][:(r.n-1)*apart+size]
		if p.answers() {
			copy(old, mem)
			old = old[r.n*apart:]
		}
		used, ok := f(mem, p.data, r.n, apart)
		if !ok {
			return fmt.Errorf("%w: %d bytes for %d elements", errs.Intern, len(p.data), r.n)
		}
		p.data = p.data[used:]
	}
	return nil
}

// heads are those of the ranks of a shared window, before the memory of the first rank.
func heads(n int) int64 { return int64(n) * headSize(n) }

// Open is the word that tells which target accesses may be made to without asking the epoch. The bits above the lowest
// one are the target plus 2: 1 for all targets, 0 for none. The lowest bit tells of passive target epochs: there
// flushes are allowed, too, and accesses with a request. Accesses are copies between memory here and that of Reach.
// nil: the memory of some ranks is not reached by loads and stores. The window keeps the word.
func (w *Window) Open() *atomic.Int64 {
	if w.mapped == nil || w.flavor == Dynamic {
		return nil
	}
	return &w.open
}

// Reach is the memory of a rank and its unit of displacements in bytes, if there is an Open.
func (w *Window) Reach(rank int) (mem []byte, unit int64) {
	p := &w.ranks[rank]
	return w.mapped[rank].mem[p.skip:][:p.size], p.unit
}
