package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/fult"
)

var errBoom = errors.New("boom")

// waits are ways to wait for something that never comes.
var waits = map[string]func(c *Comm) error{
	"Recv":    func(c *Comm) error { return second(Recv(c, one(), 0, 3)) },
	"any":     func(c *Comm) error { return second(Recv(c, one(), AnySource, AnyTag)) },
	"Ssend":   func(c *Comm) error { return Ssend(c, one(), 0, 3) },
	"long":    func(c *Comm) error { return Send(c, make([]byte, 1<<20), 0, 3) },
	"Probe":   func(c *Comm) error { return second(c.Probe(0, 3)) },
	"Mprobe":  func(c *Comm) error { return second(c.Mprobe(AnySource, 3)) },
	"Barrier": func(c *Comm) error { return c.Barrier() },
	"Waitall": func(c *Comm) error {
		a, err := Irecv(c, one(), 0, 4)
		if err != nil {
			return err
		}
		b, err := Issend(c, one(), 0, 5)
		if err != nil {
			return err
		}
		return Waitall([]Request{a, b}, nil)
	},
	"Waitany": func(c *Comm) error {
		a, err := Irecv(c, one(), 0, 4)
		if err != nil {
			return err
		}
		b, err := Issend(c, one(), 0, 5)
		if err != nil {
			return err
		}
		return third(Waitany([]Request{a, b}))
	},
}

// TestAbortEndsWaits: when rank 0 fails, whatever the others wait in ends with ErrAborted, which names the cause.
func TestAbortEndsWaits(t *testing.T) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			var started atomic.Int32
			ends := make([]error, 3)
			err := job(t, 3, func(c *Comm) error {
				own := make([]*Comm, len(callers)) // since collectives of one must not overlap
				for i := range own {
					var err error
					if own[i], err = c.Dup(); err != nil {
						return err
					}
				}
				if c.Rank() == 0 {
					for started.Load() != int32(2*len(callers)) {
						runtime.Gosched()
					}
					return errBoom
				}
				ends[c.Rank()] = everyWay(c, func(way int) error {
					started.Add(1)
					if err := wait(own[way]); !errors.Is(err, ErrAborted) || !errors.Is(err, errBoom) {
						return fmt.Errorf("it ended with %v", err)
					}
					return nil
				})
				return ends[c.Rank()]
			})
			if !errors.Is(err, errBoom) || !strings.Contains(err.Error(), "rank 0: boom") {
				t.Errorf("Run: %v", err)
			}
			for r, e := range ends {
				if e != nil {
					t.Errorf("rank %d: %v", r, e)
				}
			}
		})
	}
}

func TestRunJoinsErrors(t *testing.T) {
	met := newMeeting(3)
	err := job(t, 3, func(c *Comm) error {
		met.wait()
		return fmt.Errorf("reason %d", c.Rank())
	})
	for r := range 3 {
		if want := fmt.Sprintf("rank %d: reason %d", r, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestRunPanic(t *testing.T) {
	err := job(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			panic(errBoom)
		}
		return c.Barrier()
	})
	var p *PanicError
	if !errors.As(err, &p) || p.Rank != 1 || !errors.Is(err, errBoom) || !bytes.Contains(p.Stack, []byte("TestRunPanic")) {
		t.Errorf("%v", err)
	}
	if errors.Is(err, ErrAborted) {
		t.Errorf("what follows from the panic is reported too: %v", err)
	}
}

func TestRunGoexit(t *testing.T) {
	err := job(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			runtime.Goexit()
		}
		return c.Barrier()
	})
	if err == nil || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "Goexit") {
		t.Errorf("%v", err)
	}
}

func TestAbort(t *testing.T) {
	err := job(t, 3, func(c *Comm) error {
		if c.Rank() == 2 {
			return c.Proc().Abort(7, errBoom)
		}
		return second(Recv(c, one(), AnySource, 0))
	})
	if !errors.Is(err, errBoom) || !errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), "rank 2") {
		t.Errorf("%v", err)
	}
	err = job(t, 1, func(c *Comm) error { return c.Proc().Abort(3, nil) })
	if !errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), "code 3") {
		t.Errorf("%v", err)
	}
}

// TestFinalizeLeftovers: operations that nobody waits for are reported, and end.
func TestFinalizeLeftovers(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		r, err := Irecv(c, one(), AnySource, 3)
		if err != nil {
			return err
		}
		if err := c.Proc().Finalize(); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "Irecv on world") {
			return fmt.Errorf("finalize: %v", err)
		}
		if _, err := r.Wait(); !errors.Is(err, ErrFinalized) {
			return fmt.Errorf("wait: %v", err)
		}
		return nil
	})
}

// TestFinalizeUnwindsThreads: a light-weight thread that still waits does not keep its rank.
func TestFinalizeUnwindsThreads(t *testing.T) {
	var errs [2]error
	err := job(t, 2, func(c *Comm) error {
		started := make(chan struct{})
		_, err := c.Proc().Go(func() {
			close(started)
			_, errs[c.Rank()] = Recv(c, one(), AnySource, 0)
		})
		<-started
		return err
	})
	if err != nil && !errors.Is(err, ErrPending) {
		t.Error(err)
	}
	for r, e := range errs {
		if e != nil && !errors.Is(e, ErrFinalized) {
			t.Errorf("rank %d: %v", r, e)
		}
	}
}

func TestThreadsPanic(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		h, err := c.Proc().Go(func() { panic(errBoom) })
		if err != nil {
			return err
		}
		var p *fult.PanicError
		if err := h.Join(); !errors.As(err, &p) || !errors.Is(err, errBoom) {
			return fmt.Errorf("join: %v", err)
		}
		return nil
	})
}

func TestDump(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		r, err := Irecv(c, make([]byte, 77), 1-c.Rank(), 12345)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		c.Proc().Dump(&b)
		if s := b.String(); !strings.Contains(s, "12345") || !strings.Contains(s, "77") || !strings.Contains(s, "rank") {
			return fmt.Errorf("dump:\n%s", s)
		}
		if err := Send(c, []byte{1}, 1-c.Rank(), 12345); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		if err := c.Proc().Finalize(); err != nil {
			return err
		}
		b.Reset()
		if c.Proc().Dump(&b); !strings.Contains(b.String(), "finalized") {
			return fmt.Errorf("dump after the end:\n%s", &b)
		}
		return nil
	})
}

func TestOptionsReachTheServer(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if got := c.Proc().Server().EagerLimit(); got != 1000 {
			return fmt.Errorf("eager limit %d", got)
		}
		return reduces(c, make1k(c.Rank()), make1k(3), Func(func(a, b [2000]byte) [2000]byte {
			a[1999] += b[1999]
			return a
		}).Commutative())
	}, WithEager(1000), WithLoan(60), WithSpin(0), WithWorkers(2), WithUnexpected(8192), WithServer("worker"), WithThreads(64))
}

func make1k(n int) (x [2000]byte) {
	x[1999] = byte(n + 1)
	if n == 3 {
		x[1999] = 3
	}
	return x
}

// TestManyJobs runs jobs side by side.
func TestManyJobs(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			must(t, 2, func(c *Comm) error {
				for range 100 {
					if err := reduces(c, i, 2*i, Sum); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
