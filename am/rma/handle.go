package rma

import (
	"errors"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/progress"
)

// Handle stands for an operation that was started. The zero Handle is done: it is what operations return that are done
// when their call returns. A Handle that is not zero must be brought to its end, once, by a Wait or Test that finds it
// done; copies of it are then done, too. One goroutine or thread at a time may use a Handle.
type Handle struct {
	o   *op
	gen uint32
}

func (o *op) handle() Handle { return Handle{o, o.gen.Load()} }

// valid reports whether the handle is neither zero nor brought to its end already.
func (h Handle) valid() bool { return h.o != nil && h.o.gen.Load() == h.gen }

func (h Handle) ready() bool { return !h.valid() || h.o.done.Ready() }

// Wait blocks the caller until the operation is done, and polls if nobody else does. It returns the operation's error:
// ErrPeer if the peer died, ErrClosed. In a handler it returns am.ErrContext, and h stays.
func (h Handle) Wait() error {
	if !h.valid() {
		return nil
	}
	_, err := h.end()
	return err
}

// end waits for a valid handle's operation and brings it to its end. On an error of Memory.allow h stays valid.
func (h Handle) end() (old uint64, err error) {
	if !h.o.done.Ready() {
		if err := h.o.m.allow(am.CallWait); err != nil {
			return 0, err
		}
		h.o.m.prog.Wait(&h.o.done)
	}
	return h.o.take()
}

// waited waits for an operation that was started, or not.
func waited(h Handle, err error) error {
	if err != nil {
		return err
	}
	return h.Wait()
}

// Test reports whether the operation is done, and if so its error. It never polls and never blocks.
func (h Handle) Test() (done bool, err error) {
	switch {
	case !h.valid():
		return true, nil
	case !h.o.done.Ready():
		return false, nil
	}
	_, err = h.o.take()
	return true, err
}

// Pending is what completes with the operation, nil if that is done. It can be waited for together with operations of
// other layers, by the engine of its endpoint (am.Endpoint.Progress). The handle is then brought to its end by Test.
func (h Handle) Pending() *progress.Done {
	if h.ready() {
		return nil
	}
	return &h.o.done
}

// WaitAll waits for all of hs as Wait does, makes them zero and returns their errors joined. No valid handle: done.
func WaitAll(hs []Handle) error {
	if err := wait(hs, (*progress.Engine).WaitAll); err != nil {
		return err
	}
	_, err := reap(hs)
	return err
}

// WaitSome waits until at least one of hs is done, makes those that are done zero, and returns their number and errors
// joined. A list without a valid handle is done: it gives 0.
func WaitSome(hs []Handle) (int, error) {
	if n, err := reap(hs); n > 0 {
		return n, err
	}
	if err := wait(hs, (*progress.Engine).WaitAny); err != nil {
		return 0, err
	}
	return reap(hs)
}

var lists = sync.Pool{New: func() any { return new([]*progress.Done) }}

// wait has f wait for those of hs that are not done.
func wait(hs []Handle, f func(e *progress.Engine, ds []*progress.Done)) error {
	l := lists.Get().(*[]*progress.Done)
	ds := (*l)[:0]
	var m *Memory
	for _, h := range hs {
		if d := h.Pending(); d != nil {
			ds, m = append(ds, d), h.o.m
		}
	}
	var err error
	if m != nil {
		if err = m.allow(am.CallWait); err == nil {
			f(m.prog, ds)
		}
	}
	clear(ds)
	*l = ds
	lists.Put(l)
	return err
}

// TestAll reports whether all of hs are done. If so it makes them zero and joins their errors. It never polls.
func TestAll(hs []Handle) (bool, error) {
	for _, h := range hs {
		if !h.ready() {
			return false, nil
		}
	}
	_, err := reap(hs)
	return true, err
}

// TestSome makes those of hs that are done zero. ok tells that there was one, or none was valid. It never polls.
func TestSome(hs []Handle) (ok bool, err error) {
	valid := 0
	for _, h := range hs {
		if h.valid() {
			valid++
		}
	}
	n, err := reap(hs)
	return valid == 0 || n > 0, err
}

// reap ends the valid handles that are done, makes all that are done zero, and counts the former.
func reap(hs []Handle) (n int, err error) {
	for i, h := range hs {
		if !h.ready() {
			continue
		}
		hs[i] = Handle{}
		if !h.valid() {
			continue
		}
		n++
		if _, e := h.o.take(); e != nil {
			err = errors.Join(err, e)
		}
	}
	return n, err
}
