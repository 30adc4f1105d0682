package fult

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// helper is a goroutine that blocks in place of a thread. The thread waits for it.
type helper struct {
	done  atomic.Bool
	panic *PanicError
}

// Blocking runs f on another goroutine while t, the calling thread, waits. f may block in the kernel or on any object
// of Go. The worker of t goes on, so Blocking switches threads. Close waits for f. A panic in f is raised again in t
// as a *PanicError with the stack of f. If f calls runtime.Goexit, so does t. A nil t stands for the calling thread.
// A plain goroutine runs f itself. So does a thread that is no coroutine.
func Blocking(t *Thread, f func()) {
	t = orCurrent(t)
	if t == nil || t.ext != nil {
		f()
		return
	}
	var h helper
	exited := true
	t.delegateTo(&h, func() {
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

// delegateTo runs f on a goroutine and holds t until it has ended.
func (t *Thread) delegateTo(h *helper, f func()) {
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
		t.holdUntil()
	}
}

// holdUntil is Wait without an end by Abort or Close, because the helper still uses memory of the thread.
func (t *Thread) holdUntil() {
	w := t.w
	if to := w.pickNext(); to != &t.fiber {
		w.transferTo(&t.fiber, to)
	}
}

// Recv receives from ch for thread t, as v, ok := <-ch does. Only t waits, and its worker goes on. It switches threads
// unless a value is ready. A nil t is the calling thread; a plain goroutine blocks. Abort and Close unwind t.
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

// Send sends v to ch for thread t, as ch <- v does. Only t waits, and its worker goes on. It switches threads unless
// ch has room. If ch is closed, the error wraps ErrArgument. A nil t stands for the calling thread. A plain goroutine
// sends by itself, and blocks. Abort and Close unwind t.
func Send[T any](t *Thread, ch chan<- T, v T) error {
	sent, err := trySend(ch, v)
	if sent {
		return err
	}
	orCurrent(t).onChannel(func(stop <-chan struct{}) (sent bool) {
		sent, err = sendUntil(ch, v, stop)
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

func sendUntil[T any](ch chan<- T, v T, stop <-chan struct{}) (sent bool, err error) {
	defer closedChannel(&sent, &err)
	select {
	case ch <- v:
		return true, nil
	case <-stop:
		return false, nil
	}
}

// closedChannel turns the panic of a send to a closed channel into an error. No other panic can occur.
func closedChannel(sent *bool, err *error) {
	if p := recover(); p != nil {
		*sent, *err = true, fmt.Errorf("fult: %v: %w", p, ErrArgument)
	}
}

// onChannel runs op on a goroutine that may block. If stop has ended op, op returns false and the thread unwinds.
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
		t.delegateTo(&h, func() { done = op(t.w.s.stop) })
		if !done {
			runtime.Goexit()
		}
	}
}
