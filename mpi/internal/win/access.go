package win

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
)

// Place is memory at a target: N elements of type T, Disp units from the beginning of the window of rank Rank, or at
// the address Disp of a dynamic window.
type Place struct {
	Rank int
	Disp int64
	N    int64
	T    *dtype.Type
}

// access is what a call has started towards a target.
type access struct {
	hs   []rma.Handle
	then func() // what is left to do when all are done; may be nil
	err  error  // of one that is over
}

// waitAccess waits for the access.
func (a *access) waitAccess() error {
	err := rma.WaitAll(a.hs)
	if a.err != nil {
		return a.err
	}
	if a.then != nil && err == nil {
		a.then()
	}
	return err
}

// endIfDone tells whether the access is done, and ends it then.
func (a *access) endIfDone() bool {
	if a.err != nil {
		return true
	}
	done, err := rma.TestAll(a.hs)
	if a.err = err; done && a.then != nil && err == nil {
		a.then()
	}
	return done
}

// call is an access of the program as it is being made.
type call struct {
	w      *Window
	what   string
	to     Place
	region rma.Region
	world  int
	offset int64 // of the first element in the region
	access       // what has been started so far
	now    bool  // the caller waits for the accesses itself
}

// findTarget checks an access: its buffers, the epoch and the bounds. It returns the call with the region and the byte
// of the target. It returns nil without an error if the target is MPI_PROC_NULL. It checks no
// bounds of a dynamic window.
func (w *Window) findTarget(what string, to Place, kind epoch.Call, bufs ...Buf) (*call, error) {
	for _, b := range bufs {
		if err := checkBuf(b); err != nil {
			return nil, w.winErrorf(what, err)
		}
	}
	if err := checkBuf(Buf{N: to.N, T: to.T, Mem: somewhere}); err != nil {
		return nil, w.winErrorf(what, err)
	}
	if err := w.begun(kind, to); err != nil || to.Rank == epoch.ProcNull {
		return nil, w.winErrorf(what, err)
	}
	p := w.ranks[to.Rank]
	c := &call{w: w, what: what, to: to, region: rma.Region(p.region), world: int(p.world), now: kind == epoch.AccessReq}
	if to.N == 0 || to.T.Size() == 0 {
		return c, nil
	}
	c.offset = to.Disp
	if w.flavor == Dynamic {
		return c, nil
	}
	_, extent := to.T.Bounds()
	low, span := to.T.TrueBounds()
	if extent < 0 || extent > 1<<40 || to.N > 1<<40/max(extent, 1) || to.Disp > p.size/p.unit {
		return nil, w.winErrorf(what, w.beyond(to))
	}
	c.offset *= p.unit
	first := c.offset + low
	if last := first + (to.N-1)*extent + span; first < 0 || last > p.size {
		return nil, w.winErrorf(what, w.beyond(to))
	}
	c.offset += p.skip
	return c, nil
}

// begun has the epoch know of an access that it allows.
func (w *Window) begun(kind epoch.Call, to Place) error {
	args := epoch.Args{Target: to.Rank}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.freed {
		return fmt.Errorf("%w: it has been freed", errs.Win)
	}
	if to.Rank != epoch.ProcNull && to.Disp < 0 && w.flavor != Dynamic {
		if err := w.epoch.Check(kind, args); err != nil {
			return err
		}
		return fmt.Errorf("%w: %d", errs.Disp, to.Disp)
	}
	return w.enterEpoch(kind, args)
}

var somewhere = unsafe.Pointer(new(byte))

func (w *Window) beyond(to Place) error {
	p := w.ranks[to.Rank]
	return fmt.Errorf("%w: %d bytes of data at displacement %d of rank %d, which has %d bytes in units of %d", errs.RMARange,
		bytesOf(Buf{N: to.N, T: to.T}), to.Disp, to.Rank, p.size, p.unit)
}

func checkBuf(b Buf) error {
	switch {
	case b.N < 0:
		return fmt.Errorf("%w: %d", errs.Count, b.N)
	case b.T == nil:
		return fmt.Errorf("%w: none", errs.Type)
	case !b.T.Committed():
		return fmt.Errorf("%w: it has not been committed", errs.Type)
	case b.N > 0 && b.Mem == nil && b.T.Size() > 0 && !b.T.Absolute():
		return fmt.Errorf("%w: no memory for %d elements", errs.Buffer, b.N)
	}
	if _, ok := b.T.Bytes(b.N); !ok {
		return fmt.Errorf("%w: %d elements of %d bytes", errs.Count, b.N, b.T.Size())
	}
	return nil
}

// bytesOf is the number of bytes of data in a buffer that has been checked.
func bytesOf(b Buf) int64 {
	n, _ := b.T.Bytes(b.N)
	return n
}

// packed gives the data of b one behind the other: the memory itself if it lies so.
func packed(b Buf) []byte {
	n := bytesOf(b)
	if n == 0 {
		return nil
	}
	if b.T.Dense() {
		return unsafe.Slice((*byte)(b.Mem), n)
	}
	out := make([]byte, n)
	var c dtype.Cursor
	b.T.Over(&c, b.Mem, b.N)
	c.Pack(out, 0)
	return out
}

// room gives memory for the data of b, one behind the other, and what then brings them to their places; nil if they are
// there.
func room(b Buf) (mem []byte, then func()) {
	n := bytesOf(b)
	if n == 0 {
		return nil, nil
	}
	if b.T.Dense() {
		return unsafe.Slice((*byte)(b.Mem), n), nil
	}
	mem = make([]byte, n)
	return mem, func() {
		var c dtype.Cursor
		b.T.Over(&c, b.Mem, b.N)
		c.Unpack(mem, 0)
	}
}

// finishCall ends the making of an access: it is the window's now, or is waited for.
func (c *call) finishCall(err error) error {
	switch {
	case c.now || err != nil:
		if e := c.waitAccess(); err == nil {
			err = e
		}
	case c.endIfDone():
		err = c.err
	default:
		c.w.keepAccess(c.to.Rank, c.access)
	}
	return c.w.winErrorf(c.what, err)
}

// underway are the accesses to a target that have been started and not been waited for.
type underway struct {
	list []access
	// prune is at how many those that are done are looked for; 0: at fewest. A look leaves twice as many to come before
	// the next as it has left. So each access is looked at twice on average, however many are under way.
	prune int
	scans int // at how many accesses; for tests
}

// fewest is how many accesses to a target are pending at least before those that are done are looked for.
const fewest = 64

// keepAccess adds an access to those that are pending, and now and then drops those that are done.
func (w *Window) keepAccess(rank int, a access) {
	w.mu.Lock()
	p := &w.pending[rank]
	p.list = append(p.list, a)
	var all []access
	if len(p.list) >= max(p.prune, fewest) {
		p.list, all = nil, p.list
	}
	w.mu.Unlock()
	if all == nil {
		return
	}
	n := len(all)
	all = slices.DeleteFunc(all, func(a access) bool { return a.endIfDone() && a.err == nil })
	w.mu.Lock()
	p.scans += n
	p.prune = 2 * len(all)
	p.list = append(all, p.list...)
	w.mu.Unlock()
}

// Put copies from to a target (12.3.1). from must not change before the epoch ends, or Flush. It does not wait for the
// target. Errors, of all accesses: errs.Count, errs.Type, errs.Buffer, errs.Rank, errs.Disp; errs.RMASync: no epoch
// allows it; errs.RMARange: the target has no such memory. Some are found when the epoch ends.
func (w *Window) Put(from Buf, to Place) error { return w.putTo("Put", from, to, epoch.Access) }

// Rput is Put that can be waited for (12.3.5): it is done when it returns.
func (w *Window) Rput(from Buf, to Place) (core.Request, error) {
	return w.requested(w.putTo("Rput", from, to, epoch.AccessReq))
}

func (w *Window) requested(err error) (core.Request, error) {
	if err != nil {
		return core.Request{}, err
	}
	return w.c.AtOnce(), nil
}

func (w *Window) putTo(what string, from Buf, to Place, kind epoch.Call) error {
	if w.putDirect(&from, &to, kind) {
		return nil
	}
	c, err := w.findTarget(what, to, kind, from)
	if c == nil {
		return err
	}
	return c.finishCall(c.transfer(packed(from), nil))
}

// Get copies from a target to into (12.3.2), which must be left alone until the epoch ends, or Flush. Otherwise as Put.
func (w *Window) Get(into Buf, from Place) error { return w.getFrom("Get", into, from, epoch.Access) }

// Rget is Get that can be waited for: it is done when it returns.
func (w *Window) Rget(into Buf, from Place) (core.Request, error) {
	return w.requested(w.getFrom("Rget", into, from, epoch.AccessReq))
}

func (w *Window) getFrom(what string, into Buf, from Place, kind epoch.Call) error {
	if w.getDirect(&into, &from, kind) {
		return nil
	}
	c, err := w.findTarget(what, from, kind, into)
	if c == nil {
		return err
	}
	mem, then := room(into)
	c.then = then
	return c.finishCall(c.transfer(nil, mem))
}

// transfer puts src, or gets dst.
func (c *call) transfer(src, dst []byte) error {
	n, _ := c.to.T.Bytes(c.to.N)
	if have := int64(max(len(src), len(dst))); have != n {
		return fmt.Errorf("%w: %d bytes here, %d at the target", errs.Truncate, have, n)
	}
	if n == 0 {
		return nil
	}
	if near := c.here(); near != nil {
		runs := []run{{c.offset, n}}
		if !c.to.T.Dense() {
			runs = byteRuns(c.to.T, c.to.N, c.offset)
		}
		near.copied(runs, src, dst)
		return nil
	}
	runs := byteRuns(c.to.T, c.to.N, c.offset)
	if n/int64(len(runs)) >= longRun || len(runs) == 1 {
		return c.eachRun(runs, src, dst)
	}
	if dst != nil {
		return c.sendProgram(program{code: codeGet, basic: dtype.Byte, runs: runs}, dst)
	}
	return c.sendProgram(program{code: codePut, basic: dtype.Byte, runs: runs, data: src}, nil)
}

// longRun is how many bytes a run has on average that is worth a put of its own.
const longRun = 256

// eachRun makes a put or a get for each run.
func (c *call) eachRun(runs []run, src, dst []byte) (err error) {
	m, at := c.w.s.m, int64(0)
	for _, r := range runs {
		var h rma.Handle
		if dst != nil {
			h, err = m.GetNB(c.world, c.region.At(r.off), dst[at:][:r.n:r.n])
		} else {
			h, err = m.PutNBBulk(c.world, c.region.At(r.off), src[at:][:r.n:r.n])
		}
		if err != nil {
			return err
		}
		at += r.n
		c.hs = append(c.hs, h)
	}
	return nil
}

// Buf is a buffer of the program.
type Buf = core.Buf
