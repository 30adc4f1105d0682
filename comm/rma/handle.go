package rma

import (
	"errors"
	"sync"

	"github.com/golci/golci/comm/am"
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

// Wait blocks the calling goroutine or thread until the operation is done, and polls if nobody else does. It returns
// the operation's error: ErrPeer if the peer died, ErrClosed. In a handler it returns am.ErrContext, and h stays as
// it is.
func (h Handle) Wait() error {
	if !h.valid() {
		return nil
	}
	if !h.o.done.Ready() {
		if err := h.o.m.allow(am.CallWait); err != nil {
			return err
		}
		h.o.m.prog.Wait(&h.o.done)
	}
	_, err := h.o.take()
	return err
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

// WaitAll waits for all of hs, as Wait does, makes them zero, and returns their errors joined. A list without a valid
// handle is done.
func WaitAll(hs []Handle) error {
	l := lists.Get().(*list)
	defer l.release()
	if done, m := noneOpen(hs); !done {
		if err := m.allow(am.CallWait); err != nil {
			return err
		}
	}
	if e := l.fill(hs); e != nil {
		e.WaitAll(l.ds)
	}
	_, err := reap(hs)
	return err
}

// WaitSome waits until at least one of hs is done, makes those that are done zero, and returns their number and errors
// joined. A list without a valid handle is done: it gives 0.
func WaitSome(hs []Handle) (int, error) {
	for {
		if ok, _ := anyDone(hs); ok {
			return reap(hs)
		}
		if err := waitSome(hs); err != nil { // may be told a moment before the operation is done
			return 0, err
		}
	}
}

// noneOpen reports whether all of hs are done, and gives the rank's memory otherwise.
func noneOpen(hs []Handle) (bool, *Memory) {
	for _, h := range hs {
		if !h.ready() {
			return false, h.o.m
		}
	}
	return true, nil
}

// anyDone reports whether one of hs is done or none is valid, and gives the rank's memory otherwise.
func anyDone(hs []Handle) (bool, *Memory) {
	var m *Memory
	for _, h := range hs {
		if !h.valid() {
			continue
		}
		if h.o.done.Ready() {
			return true, nil
		}
		m = h.o.m
	}
	return m == nil, m
}

var somePool = sync.Pool{New: func() any { return new(op) }}

// waitSome has each of hs tell an op of its own, outside the table, and waits for that.
func waitSome(hs []Handle) error {
	_, m := anyDone(hs)
	if m == nil {
		return nil
	}
	if err := m.allow(am.CallWait); err != nil {
		return err
	}
	o := somePool.Get().(*op)
	o.m = m
	o.reset(-1, 0)
	m.expect(o)
	some := o.handle()
	for _, h := range hs {
		if h.valid() && !h.watch(some) {
			o.ring(some.gen, nil)
			break
		}
	}
	m.prog.Wait(&o.done)
	for _, h := range hs {
		if h.valid() {
			h.watch(Handle{})
		}
	}
	o.mu.Lock()
	o.gen.Add(1) // refuses those that are still about to tell
	o.mu.Unlock()
	somePool.Put(o)
	return nil
}

// TestAll reports whether all of hs are done; if so it makes them zero and returns their errors joined, otherwise it
// changes nothing. It never polls.
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

// list is what a waiter for several needs, kept for the next one.
type list struct{ ds []*progress.Done }

var lists = sync.Pool{New: func() any { return new(list) }}

// fill lists what is valid in hs and returns the engine to wait with, nil if there is nothing.
func (l *list) fill(hs []Handle) (e *progress.Engine) {
	for _, h := range hs {
		if h.valid() {
			l.ds = append(l.ds, &h.o.done)
			e = h.o.m.prog
		}
	}
	return e
}

func (l *list) release() {
	clear(l.ds)
	l.ds = l.ds[:0]
	lists.Put(l)
}
