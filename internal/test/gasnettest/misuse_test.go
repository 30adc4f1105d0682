package gasnettest

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/barrier"
	"github.com/golci/golci/am/hsl"
)

const (
	hLeaves = 100 + iota
	hReplies
	hNothing
)

// sinner is a rank on its own whose handlers and functions break the rules of locks.
type sinner struct {
	*rank
	lock   *hsl.Lock
	fault  error // the poller's
	inside error // what a handler's call returned
	ran    atomic.Int64
}

func newSinner(t *testing.T, seed uint64) *sinner {
	s := new(sinner)
	o := options{checked: true, memory: 4096, fatal: func(_ int, err error) { s.fault = err }, faults: true}
	s.rank = newJob(t, networks[0], 1, seed, o).ranks[0]
	s.lock = s.locks.New("sinful")
	s.handle(hLeaves, am.NoReply, func(*am.Token, []uint64, []byte) {
		s.ok(s.lock.Lock())
		s.ran.Add(1)
	})
	s.handle(hReplies, 0, func(tok *am.Token, _ []uint64, _ []byte) {
		s.ok(s.lock.Lock())
		s.inside = tok.ReplyShort(hNothing)
		s.ok(s.lock.Unlock())
		s.ok(tok.ReplyShort(hNothing)) // the refused one has had no effect
	})
	s.handle(hNothing, am.NoReply, func(*am.Token, []uint64, []byte) { s.ran.Add(1) })
	return s
}

// serve has handler h run once, and gives the fault and what its call returned.
func (s *sinner) serve(h uint8) (fault, inside error) {
	s.ok(s.e.RequestShort(0, h))
	s.ok(s.until(func() bool { return s.ran.Load() == 1 }))
	return s.fault, s.inside
}

// holding runs f while holding the lock.
func (s *sinner) holding(f func() error) error {
	s.ok(s.lock.Lock())
	err := f()
	s.ok(s.lock.Unlock())
	return err
}

// TestHSLMisuse is the other part of testhsl: rules broken in the sight of the endpoint. What concerns a lock alone is
// tested with package hsl.
func TestHSLMisuse(t *testing.T) {
	seed := newSeed(t)
	for _, c := range []struct {
		what string
		kind error
		sin  func(s *sinner) error
	}{
		{"Short request", hsl.ErrRequest, func(s *sinner) error {
			return s.holding(func() error { return s.e.RequestShort(0, hNothing) })
		}},
		{"Medium request", hsl.ErrRequest, func(s *sinner) error {
			return s.holding(func() error { return s.e.RequestMedium(0, hNothing, []byte{1}) })
		}},
		{"Long request", hsl.ErrRequest, func(s *sinner) error {
			return s.holding(func() error { return s.e.RequestLong(0, hNothing, make([]byte, 4096), 0) })
		}},
		{"poll", hsl.ErrPoll, func(s *sinner) error {
			return s.holding(func() error {
				s.e.Poll()
				return s.fault
			})
		}},
		{"barrier, notify", hsl.ErrRequest, func(s *sinner) error {
			return s.holding(func() error { return s.b.Notify(0, barrier.Anonymous) })
		}},
		{"barrier, wait", hsl.ErrWait, func(s *sinner) error {
			s.ok(s.b.Notify(0, barrier.Anonymous))
			err := s.holding(func() error { return s.b.Wait(0, barrier.Anonymous) })
			s.ok(s.b.Wait(0, barrier.Anonymous))
			return err
		}},
		{"handler that leaves a lock", hsl.ErrLeft, func(s *sinner) error {
			err, _ := s.serve(hLeaves)
			s.ok(s.holding(func() error { return nil })) // it can be had again
			return err
		}},
		{"handler that replies", hsl.ErrReply, func(s *sinner) error {
			_, err := s.serve(hReplies)
			return err
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newSinner(t, seed)
			err := c.sin(s)
			var e *hsl.Error
			if !errors.Is(err, c.kind) || !errors.As(err, &e) {
				t.Fatalf("%v, want %v", err, c.kind)
			}
			if e.Lock != "sinful" || !strings.Contains(e.Taken, "misuse_test.go:") || e.Holder == "" {
				t.Errorf("%v does not name the lock, its holder and the place", err)
			}
			if c.kind != hsl.ErrLeft && !strings.Contains(e.At, "misuse_test.go:") {
				t.Errorf("%v does not name the place at fault", err)
			}
			s.ok(s.e.RequestShort(0, hNothing)) // free again
			s.ok(s.locks.Close())
		})
	}
}
