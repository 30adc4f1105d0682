package fult

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// helper is a goroutine that does something in place of a thread, which waits for it.
type helper struct {
	done  atomic.Bool
	panic *PanicError
}

// Blocking runs f, which may block in the kernel or on anything else, on another goroutine while t, the calling thread,
// waits and its worker goes on. It switches threads. Close waits for f. A panic in f is raised again in t as a
// *PanicError with f's stack; if f calls runtime.Goexit, so does t. A nil t stands for the thread that calls. A plain goroutine,
// and a thread that is no coroutine, runs f itself.
func Blocking(t *Thread, f func()) {
	t = orCurrent(t)
	if t == nil || t.ext != nil {
		f()
		return
	}
	var h helper
	exited := true
	t.delegate(&h, func() {
		f()
		exited = false
	})
	if h.panic != nil {
		panic(h.panic)
	}
	if exited {
		runtime.Goexit()
	}
}

// delegate runs f on a goroutine and holds t until it has ended.
func (t *Thread) delegate(h *helper, f func()) {
	s := t.w.s
	s.helpers.Add(1)
	go func() {
		defer s.helpers.Done()
		defer func() {
			if v := recover(); v != nil {
				h.panic = &PanicError{Value: v, Stack: debug.Stack(), ID: t.ID()}
			}
			h.done.Store(true)
			t.Signal()
		}()
		f()
	}()
	for !h.done.Load() {
		t.hold()
	}
}

// hold is Wait that Close does not end: what the thread waits for still uses its memory.
func (t *Thread) hold() {
	w := t.w
	if to := w.pick(); to != &t.fiber {
		w.transfer(&t.fiber, to)
	}
}

// Recv receives from ch for thread t, as v, ok := <-ch does; only t waits, not its worker. It switches threads unless a
// value is there. A nil t stands for the thread that calls; a plain goroutine receives by itself. It returns early only if Close ends t,
// which then unwinds.
func Recv[T any](t *Thread, ch <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-ch:
		return v, ok
	default:
	}
	orCurrent(t).onChannel(func(stop <-chan struct{}) bool {
		select {
		case v, ok = <-ch:
			return true
		case <-stop:
			return false
		}
	})
	return v, ok
}

// Send sends v to ch for thread t, as ch <- v does; only t waits, not its worker. It switches threads unless there is
// room. If ch is closed the error wraps ErrArgument. A nil t stands for the thread that calls; a plain goroutine sends by itself.
func Send[T any](t *Thread, ch chan<- T, v T) error {
	sent, err := trySend(ch, v)
	if sent {
		return err
	}
	orCurrent(t).onChannel(func(stop <-chan struct{}) (sent bool) {
		sent, err = send(ch, v, stop)
		return sent
	})
	return err
}

func trySend[T any](ch chan<- T, v T) (sent bool, err error) {
	defer closedChannel(&sent, &err)
	select {
	case ch <- v:
		return true, nil
	default:
		return false, nil
	}
}

func send[T any](ch chan<- T, v T, stop <-chan struct{}) (sent bool, err error) {
	defer closedChannel(&sent, &err)
	select {
	case ch <- v:
		return true, nil
	case <-stop:
		return false, nil
	}
}

// closedChannel makes an error of the panic of a send to a closed channel, the only one there can be.
func closedChannel(sent *bool, err *error) {
	if p := recover(); p != nil {
		*sent, *err = true, fmt.Errorf("fult: %v: %w", p, ErrArgument)
	}
}

// onChannel runs op where it may block; op returns false if stop ended it, and then the thread unwinds.
func (t *Thread) onChannel(op func(stop <-chan struct{}) bool) {
	switch {
	case t == nil:
		op(nil)
	case t.ext != nil:
		if !op(t.w.s.stop) {
			runtime.Goexit()
		}
	default:
		var h helper
		done := false
		t.delegate(&h, func() { done = op(t.w.s.stop) })
		if !done {
			runtime.Goexit()
		}
	}
}
