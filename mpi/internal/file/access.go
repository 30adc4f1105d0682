package file

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/fileview"
)

// Pointer is where an access begins.
type Pointer int

// Where accesses begin (14.4.1).
const (
	At         Pointer = iota // at an explicit offset
	Individual                // at the pointer of the rank
	Shared                    // at the pointer that all ranks share
	Ordered                   // there too, one rank behind the other: collective
)

// Call is an access (14.4). A collective one is of all ranks.
type Call struct {
	What       string // the function, for errors
	Write      bool
	Pointer    Pointer
	Collective bool
	Offset     int64 // of At, in etypes
	Buf        core.Buf
}

// access is a call on its way.
type access struct {
	Call
	rankView
	data []byte // as they are in the file
	pos  int64  // byte of the stream
	loud bool   // atomic
}

// Do reads or writes, and waits. The status has the number of bytes in memory. A read that meets the end of the file
// has fewer. Errors: errs.ReadOnly, errs.Access, errs.Type, errs.Count, errs.IO for what is no whole number of etypes,
// and those of the system.
func (f *File) Do(k *Call) (core.Status, error) {
	a, err := f.beginAccess(k)
	f.mu.Lock()
	busy := f.last != nil && !over(f.last)
	f.mu.Unlock()
	if busy && k.collective() {
		r := f.later(a, err)
		return r.Wait(k.What)
	}
	n, err := f.runAccess(a, err)
	return status(n), err
}

// Start is Do that does not wait. Collectives of a file run in the order in which they were started.
func (f *File) Start(k *Call) (core.Request, error) {
	a, err := f.beginAccess(k)
	if err != nil && !k.collective() {
		return core.Request{}, err
	}
	return f.later(a, err), nil
}

func (k *Call) collective() bool { return k.Collective || k.Pointer == Ordered }

func status(n int64) core.Status {
	return core.Status{Source: core.AnySource, Tag: core.AnyTag, Bytes: n}
}

func over(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// later runs an access beside the caller.
func (f *File) later(a *access, err error) core.Request {
	var n int64
	r := f.c.Proc().StartGeneral(core.Grequest{Query: func() (core.Status, error) { return status(n), err }})
	end := r
	var before, done chan struct{}
	if a.collective() {
		done = make(chan struct{})
		f.mu.Lock()
		before, f.last = f.last, done
		f.mu.Unlock()
	}
	go func() {
		if before != nil {
			<-before
		}
		n, err = f.runAccess(a, err)
		if done != nil {
			close(done)
		}
		_ = end.Complete(a.What) // it is ours, and completed once
	}()
	return r
}

// beginAccess looks at the arguments of an access and moves the pointer. The access of an error has no data.
func (f *File) beginAccess(k *Call) (*access, error) {
	a := &access{Call: *k}
	err := f.checkUsable(k.What)
	f.mu.Lock()
	a.rankView, a.loud = f.shown, f.atomic
	f.mu.Unlock()
	if err != nil {
		return a, err
	}
	if err = f.allowed(k); err == nil {
		err = a.load()
	}
	units := int64(len(a.data)) / a.view.Unit()
	if err == nil && int64(len(a.data))%a.view.Unit() != 0 {
		err = fmt.Errorf("%w: %d bytes are no whole number of etypes of %d", errs.IO, len(a.data), a.view.Unit())
	}
	if err == nil {
		err = f.aim(a, units)
	}
	if err == nil && k.Pointer != Ordered && !a.view.Fits(a.pos, int64(len(a.data))) {
		err = fmt.Errorf("%w: %d bytes at %d are beyond what the view shows", errs.IO, len(a.data), a.pos)
	}
	if err != nil {
		a.data = nil
	}
	return a, f.fileErrorf(k.What, err)
}

// allowed tells whether the mode of the file allows an access.
func (f *File) allowed(k *Call) error {
	switch {
	case k.Write && f.mode&RDONLY != 0:
		return fmt.Errorf("%w: it is open for reading", errs.ReadOnly)
	case !k.Write && f.mode&WRONLY != 0:
		return fmt.Errorf("%w: it is open for writing", errs.Access)
	case k.Pointer == At && k.Offset < 0:
		return fmt.Errorf("%w: an offset of %d", errs.Arg, k.Offset)
	case k.Pointer == At || k.Pointer == Individual:
		return f.random()
	}
	return nil
}

// aim finds where the access begins. Of Ordered all ranks do that together, later.
func (f *File) aim(a *access, units int64) (err error) {
	at := a.Offset
	switch a.Pointer {
	case Individual:
		f.mu.Lock()
		at = f.pos
		f.pos += units
		f.mu.Unlock()
	case Shared:
		at, err = f.shared.addTo(units)
	}
	a.pos = at * a.view.Unit()
	return err
}

// onePiece is the memory of the buffer, if it is one piece.
func (a *access) onePiece(n int64) ([]byte, bool) {
	if a.form != fileview.Native {
		return nil, false
	}
	if a.Buf.T.Dense() {
		return unsafe.Slice((*byte)(a.Buf.Mem), n), true
	}
	var c dtype.Cursor
	a.Buf.T.Over(&c, a.Buf.Mem, a.Buf.N)
	return c.Piece()
}

// load gives the access its data: those to write, or room for those to read.
func (a *access) load() error {
	t := a.Buf.T
	if t == nil || !t.Committed() {
		return fmt.Errorf("%w: there is none, or it has not been committed", errs.Type)
	}
	n, ok := t.Bytes(a.Buf.N)
	if !ok {
		return fmt.Errorf("%w: %d elements of %d bytes", errs.Count, a.Buf.N, t.Size())
	}
	if n == 0 {
		return nil
	}
	if a.Buf.Mem == nil && !t.Absolute() {
		return fmt.Errorf("%w: no memory for %d bytes", errs.Buffer, n)
	}
	if a.data, ok = a.onePiece(n); ok {
		return nil
	}
	var err error
	a.data = make([]byte, a.Buf.N*fileview.Size(t, a.form))
	switch {
	case !a.Write:
	case a.form == fileview.External:
		_, err = dtype.PackExternal(a.data, t, a.Buf.Mem, a.Buf.N)
	default:
		_, err = a.Buf.Pack(a.data)
	}
	return err
}

// store puts the first bytes that were read where they belong, and gives how many bytes they are in memory.
func (a *access) store(got int64) (int64, error) {
	t := a.Buf.T
	if a.form == fileview.External {
		n := got / max(fileview.Size(t, a.form), 1)
		if a.Write {
			return n * t.Size(), nil
		}
		_, err := dtype.UnpackExternal(t, a.Buf.Mem, n, a.data)
		return n * t.Size(), err
	}
	if a.Write || got == 0 {
		return got, nil
	}
	if _, ok := a.onePiece(int64(len(a.data))); ok {
		return got, nil
	}
	var c dtype.Cursor
	t.Over(&c, a.Buf.Mem, a.Buf.N)
	c.Unpack(a.data[:got], 0)
	return got, nil
}

// runAccess does what beginAccess has begun, with its error.
func (f *File) runAccess(a *access, err error) (n int64, _ error) {
	if a.collective() {
		n, err = f.runAll(a, err)
	} else if err == nil {
		n, err = f.alone(a)
		err = f.fileErrorf(a.What, err)
	}
	if err != nil {
		return 0, err
	}
	n, err = a.store(n)
	return n, f.fileErrorf(a.What, err)
}

// alone reads or writes without other ranks.
func (f *File) alone(a *access) (n int64, err error) {
	if len(a.data) == 0 {
		return 0, nil
	}
	all := pieces(a.view, a.pos, a.data)
	if a.loud {
		low, high := bounds(all)
		unlock, err := lock(f.f, low, high-low, !a.Write)
		if err != nil {
			return 0, err
		}
		defer func() {
			if e := unlock(); err == nil {
				err = e
			}
		}()
	}
	if a.Write {
		return int64(len(a.data)), write(f.f, all)
	}
	return read(f.f, all)
}

// bounds are the first byte of some pieces and the one behind the last.
func bounds(all []piece) (low, high int64) {
	low = all[0].at
	for _, p := range all {
		low, high = min(low, p.at), max(high, p.at+int64(len(p.mem)))
	}
	return low, high
}
