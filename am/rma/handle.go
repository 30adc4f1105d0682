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

func (o *op) handleOf() Handle { return Handle{o, o.gen.Load()} }

// isValid reports whether the handle is neither zero nor brought to its end already.
func (h Handle) isValid() bool { return h.o != nil && h.o.gen.Load() == h.gen }

func (h Handle) isReady() bool { return !h.isValid() || h.o.done.Ready() }

// Wait blocks the caller until the operation is done, and polls if nobody else does. It returns the operation's error:
// ErrPeer if the peer died, ErrClosed. In a handler it returns am.ErrContext, and h stays.
func (h Handle) Wait() error {
	if !h.isValid() {
		return nil
	}
	_, err := h.endOp()
	return err
}

// endOp waits for a valid handle's operation and brings it to its end. On an error of Memory.allowCall h stays valid.
func (h Handle) endOp() (old uint64, err error) {
	if !h.o.done.Ready() {
		if err := h.o.m.allowCall(am.CallWait); err != nil {
			return 0, err
		}
		h.o.m.prog.Wait(&h.o.done)
	}
	return h.o.takeOutcome()
}

// waitStarted waits for an operation that was started, or not.
func waitStarted(h Handle, err error) error {
	if err != nil {
		return err
	}
	return h.Wait()
}

// Test reports whether the operation is done, and if so its error. It never polls and never blocks.
func (h Handle) Test() (done bool, err error) {
	switch {
	case !h.isValid():
		return true, nil
	case !h.o.done.Ready():
		return false, nil
	}
	_, err = h.o.takeOutcome()
	return true, err
}

// Pending is what completes with the operation, nil if that is done. It can be waited for together with operations of
// other layers, by the engine of its endpoint (am.Endpoint.Progress). The handle is then brought to its end by Test.
func (h Handle) Pending() *progress.Done {
	if h.isReady() {
		return nil
	}
	return &h.o.done
}

// WaitAll waits for all of hs as Wait does, makes them zero and returns their errors joined. No valid handle: done.
func WaitAll(hs []Handle) error {
	if err := waitHandles(hs, (*progress.Engine).WaitAll); err != nil {
		return err
	}
	_, err := reapHandles(hs)
	return err
}

// WaitSome waits until at least one of hs is done, makes those that are done zero, and returns their number and errors
// joined. A list without a valid handle is done: it gives 0.
func WaitSome(hs []Handle) (int, error) {
	if n, err := reapHandles(hs); n > 0 {
		return n, err
	}
	if err := waitHandles(hs, (*progress.Engine).WaitAny); err != nil {
		return 0, err
	}
	return reapHandles(hs)
}

var lists = sync.Pool{New: func() any { return new([]*progress.Done) }}

// waitHandles has f wait for those of hs that are not done.
func waitHandles(hs []Handle, f func(e *progress.Engine, ds []*progress.Done)) error {
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
		if err = m.allowCall(am.CallWait); err == nil {
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
		if !h.isReady() {
			return false, nil
		}
	}
	_, err := reapHandles(hs)
	return true, err
}

// TestSome makes those of hs that are done zero. ok tells that there was one, or none was valid. It never polls.
func TestSome(hs []Handle) (ok bool, err error) {
	valid := 0
	for _, h := range hs {
		if h.isValid() {
			valid++
		}
	}
	n, err := reapHandles(hs)
	return valid == 0 || n > 0, err
}

// reapHandles ends the valid handles that are done, makes all that are done zero, and counts the former.
func reapHandles(hs []Handle) (n int, err error) {
	for i, h := range hs {
		if !h.isReady() {
			continue
		}
		hs[i] = Handle{}
		if !h.isValid() {
			continue
		}
		n++
		if _, e := h.o.takeOutcome(); e != nil {
			err = errors.Join(err, e)
		}
	}
	return n, err
}
