package mpi

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// fultWaits are the waits of package fult, none of which ends by itself. told is called right before each.
var fultWaits = map[string]func(c *Comm, told func()) error{
	"Mutex": func(_ *Comm, told func()) error {
		var m fult.Mutex
		m.Lock(nil)
		told()
		m.Lock(nil)
		return nil
	},
	"Cond": func(_ *Comm, told func()) error {
		c := fult.Cond{L: new(fult.Mutex)}
		c.L.Lock(nil)
		told()
		return c.Wait(nil)
	},
	"WaitGroup": func(_ *Comm, told func()) error {
		var g fult.WaitGroup
		if err := g.Add(nil, 1); err != nil {
			return err
		}
		told()
		g.Wait(nil)
		return nil
	},
	"Barrier": func(_ *Comm, told func()) error {
		b, err := fult.NewBarrier(2)
		if err != nil {
			return err
		}
		told()
		b.Wait(nil)
		return nil
	},
	"Counter": func(_ *Comm, told func()) error {
		var n fult.Counter
		n.Reset(nil, 1)
		told()
		n.Wait()
		return nil
	},
	"Recv": func(_ *Comm, told func()) error {
		told()
		fult.Recv(nil, make(chan int))
		return nil
	},
	"Send": func(_ *Comm, told func()) error {
		told()
		return fult.Send(nil, make(chan int), 1)
	},
	"Sleep": func(_ *Comm, told func()) error {
		told()
		fult.Sleep(nil, 24*time.Hour)
		return nil
	},
	"Wait": func(_ *Comm, told func()) error {
		told()
		for {
			fult.Current().Wait()
		}
	},
	"Join": func(c *Comm, told func()) error {
		h, err := c.Proc().Go(func() { fult.Recv(nil, make(chan int)) })
		if err != nil {
			return err
		}
		told()
		return h.Join()
	},
	"Blocking": func(c *Comm, told func()) error { // its function ends by itself, as a call does that the abort ends
		told()
		fult.Blocking(nil, func() { _, _ = Recv(c, one(), 1, 0) })
		var m fult.Mutex
		m.Lock(nil)
		m.Lock(nil)
		return nil
	},
}

// TestAbortEndsThreadsThatWait: the error of a rank ends threads of the others that wait in package fult. They unwind:
// what follows the wait does not run, deferred functions do. Run returns that error and no other.
func TestAbortEndsThreadsThatWait(t *testing.T) {
	for name, wait := range fultWaits {
		for _, kind := range []fult.Kind{fult.Fult, fult.Goroutines} {
			t.Run(name+"/"+kind.String(), func(t *testing.T) {
				var wentOn, unwound atomic.Bool
				ready := make(chan struct{})
				err := job(t, 2, func(c *Comm) error {
					if c.Rank() == 1 {
						<-ready
						return errBoom
					}
					err := c.Proc().Parallel(1, func(int) error {
						defer unwound.Store(true)
						err := wait(c, func() { close(ready) })
						wentOn.Store(true)
						return err
					})
					if !errors.Is(err, ErrAborted) || !errors.Is(err, errBoom) {
						t.Errorf("Parallel: %v", err)
					}
					return err
				}, With("GOLCI_SCHEDULER", kind.String()))
				if !errors.Is(err, errBoom) || strings.Contains(err.Error(), "rank 0") {
					t.Errorf("Run: %v", err)
				}
				if wentOn.Load() || !unwound.Load() {
					t.Errorf("the thread went on: %v; its deferred functions have run: %v", wentOn.Load(), unwound.Load())
				}
			})
		}
	}
}
