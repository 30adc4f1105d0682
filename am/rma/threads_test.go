package rma

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestThreads has many light-weight threads of each rank put, get, count and wait at once. Their workers poll.
func TestThreads(t *testing.T) {
	for _, active := range []bool{false, true} {
		t.Run(fmt.Sprint("am=", active), func(t *testing.T) {
			j := &job{t: t, cs: newJobConduits(t, 2)}
			t.Cleanup(j.close)
			var scheds []*fult.Scheduler
			for _, c := range j.cs {
				s, err := fult.New(fult.Config{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				e, err := am.New(c, am.Config{Scheduler: s, Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.SetPoller(e.Progress().Poller()); err != nil {
					t.Fatal(err)
				}
				m, err := New(e, Config{SegmentSize: testSegment, ActiveMessages: active})
				if err != nil {
					t.Fatal(err)
				}
				scheds, j.es, j.ms = append(scheds, s), append(j.es, e), append(j.ms, m)
			}
			threads := fewer(400)
			var handles []fult.Handle
			var failed atomic.Pointer[error]
			for r, s := range scheds {
				for i := range threads {
					h, err := s.Go(func(*fult.Thread) {
						if err := threadWork(j.ms[r], i, threads); err != nil {
							failed.Store(&err)
						}
					})
					if err != nil {
						t.Fatal(err)
					}
					handles = append(handles, h)
				}
			}
			for _, h := range handles {
				if err := h.Join(); err != nil {
					t.Error(err)
				}
			}
			if err := failed.Load(); err != nil {
				t.Error(*err)
			}
		})
	}
}

// threadWork is what thread i of n does at its own place of the peer's segment.
func threadWork(m *Memory, i, n int) error {
	peer, off, size := 1-m.Rank(), int64(1024+2000*i), 1+37*i%1900
	src, got := pattern(size, i), make([]byte, size)
	if err := errors.Join(m.Put(peer, off, src), m.Get(peer, off, got)); err != nil {
		return err
	}
	if d := differ(got, src); d != "" {
		return fmt.Errorf("thread %d: %s", i, d)
	}
	hs := make([]Handle, 5)
	for k := range hs {
		h, err := m.PutNBBulk(peer, off, src)
		if err != nil {
			return err
		}
		hs[k] = h
	}
	for k := range hs {
		if h, err := AtomicNB[int32](m, OpInc, peer, 0, 0, 0, nil); err != nil {
			return err
		} else if k == 0 {
			hs = append(hs, h)
		} else if err := h.Wait(); err != nil {
			return err
		}
	}
	if _, err := WaitSome(hs); err != nil {
		return err
	}
	if err := WaitAll(hs); err != nil {
		return err
	}
	if err := m.PutNotify(peer, off, src, 0, 1); err != nil {
		return err
	}
	return m.WaitCounter(0, uint64(n), peer)
}

// TestNoAllocation: blocking accesses allocate nothing, directly or by messages, neither here nor where they are
// answered.
func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	for _, v := range ways[:2] {
		t.Run(v.name, func(t *testing.T) {
			j := newJob(t, 2, v, 0)
			j.run(func(m *Memory) error {
				if m.Rank() == 1 {
					return nil
				}
				b := make([]byte, 1000)
				c := m.NewContext()
				for name, f := range map[string]func() error{
					"put":      func() error { return m.Put(1, 0, b) },
					"get":      func() error { return m.Get(1, 0, b) },
					"implicit": func() error { return errors.Join(c.PutBulk(1, 0, b), c.WaitPuts()) },
					"value":    func() error { return m.PutValue(1, 0, 1, 8) },
					"get value": func() error {
						_, err := m.GetValue(1, 0, 8)
						return err
					},
					"atomic": func() error {
						_, err := FetchAdd[int64](m, 1, 0, 1)
						return err
					},
				} {
					var err error
					n := testing.AllocsPerRun(200, func() { err = errors.Join(err, f()) })
					if err != nil || n >= 1 {
						t.Errorf("%s: %v allocations, %v", name, n, err)
					}
				}
				return nil
			})
		})
	}
}
