package rma

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

// TestNotify passes a buffer round a ring: each rank waits for the count, reads what came with it, and puts to the
// next. Under the race detector it also shows that a notification orders the bytes for it.
func TestNotify(t *testing.T) {
	overAll(t, 3, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			next, from := (m.Rank()+1)%3, (m.Rank()+2)%3
			rounds := fewer(400)
			for i := range rounds {
				n := sizes[i%len(sizes)]
				if m.Rank() == 0 {
					if err := m.PutNotify(next, 64, pattern(n, i), 5, 1); err != nil {
						return err
					}
				}
				if err := m.WaitCounter(5, uint64(i+1), from); err != nil {
					return err
				}
				if d := differ(m.Segment()[64:64+n], pattern(n, i)); d != "" {
					return fmt.Errorf("round %d: %s", i, d)
				}
				if m.Rank() != 0 {
					if err := m.PutNotify(next, 64, m.Segment()[64:64+n], 5, 1); err != nil {
						return err
					}
				}
			}
			if got := m.Counter(5); got != uint64(rounds) {
				return fmt.Errorf("counter is %d, want %d", got, rounds)
			}
			return nil
		})
	})
}

// TestNotifyMany has many waiters of one rank, for different counts of several counters.
func TestNotifyMany(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		rounds := fewer(160)
		var woken atomic.Int32
		j.run(func(m *Memory) error {
			if m.Rank() == 1 {
				var hs []Handle
				for i := range rounds {
					h, err := m.PutNotifyNB(0, int64(8*i), pattern(8, i), i%3, 2)
					if err != nil {
						return err
					}
					hs = append(hs, h)
				}
				return WaitAll(hs)
			}
			errs := make(chan error, rounds)
			for i := range rounds {
				go func() {
					err := m.WaitCounter(i%3, uint64(2*(i/3)+2))
					woken.Add(1)
					errs <- err
				}()
			}
			for range rounds {
				if err := <-errs; err != nil {
					return err
				}
			}
			return nil
		})
		if int(woken.Load()) != rounds {
			t.Errorf("%d woken", woken.Load())
		}
		if h := j.ms[0].notes.head; h != nil {
			t.Error("a waiter is left in the list")
		}
	})
}

// TestCalls: a callback runs after the bytes are there, for each put once.
func TestCalls(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		var got [2]atomic.Int64
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			var bad atomic.Value
			m.OnPut(7, func(src int, off int64, n int, arg uint64) {
				if d := differ(m.Segment()[off:off+int64(n)], pattern(n, int(arg))); d != "" || src != peer {
					bad.Store(fmt.Sprintf("call %d of rank %d: %s", arg, src, d))
				}
				got[m.Rank()].Add(1)
			})
			b.wait()
			off := int64(0)
			for i, n := range sizes {
				if err := m.PutCall(peer, off, pattern(n, i), 7, uint64(i)); err != nil {
					return err
				}
				off += int64(n)
			}
			eventually(t, "the callbacks", func() bool { return got[m.Rank()].Load() == int64(len(sizes)) })
			if s, ok := bad.Load().(string); ok {
				return errors.New(s)
			}
			return nil
		})
	})
}

// TestBadNotifications are refused where the caller can be told.
func TestBadNotifications(t *testing.T) {
	j := newJob(t, 1, ways[0], 0)
	m := j.ms[0]
	for _, c := range []int{-1, DefaultCounters} {
		if err := m.PutNotify(0, 0, nil, c, 1); !errors.Is(err, ErrArgument) {
			t.Errorf("counter %d: %v", c, err)
		}
		if err := m.WaitCounter(c, 1); !errors.Is(err, ErrArgument) {
			t.Errorf("counter %d: %v", c, err)
		}
		if m.Counter(c) != 0 {
			t.Errorf("counter %d", c)
		}
	}
	if err := m.WaitCounter(0, 1, 3); !errors.Is(err, ErrRank) {
		t.Error(err)
	}
}

// TestCounterWraps: a count past the largest is ahead of it.
func TestCounterWraps(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			const start = ^uint64(0) - 1
			if err := m.PutNotify(1-m.Rank(), 0, nil, 0, start); err != nil {
				return err
			}
			b.wait()
			if m.Counter(0) != start {
				return fmt.Errorf("counter is %d", m.Counter(0))
			}
			b.wait()
			if err := m.PutNotify(1-m.Rank(), 0, nil, 0, 3); err != nil {
				return err
			}
			return m.WaitCounter(0, 1)
		})
	})
}

// TestImmediate: while nobody polls, immediate puts are refused at some point, without effect and without blocking.
// After polls of the peer they succeed again. Every accepted put arrives.
func TestImmediate(t *testing.T) {
	for _, v := range slices.Concat(ways[1:], networks) {
		if v.fabric != "" && v.fabric != "get" {
			continue // puts of the conduit are never refused
		}
		t.Run(v.name, func(t *testing.T) {
			j := newJob(t, 2, v, newSeed(t))
			j.run(func(m *Memory) error {
				_, err := m.SegmentSize(1 - m.Rank())
				return err
			})
			m := j.ms[0]
			c := m.NewContext()
			var hs []Handle
			sent, refused := 0, 0
			for i := 0; refused < 3; i++ {
				before := m.numbers.Used()
				var err error
				if i%2 == 0 {
					var h Handle
					if h, err = m.TryPutNB(1, int64(8*sent), pattern(8, sent)); err == nil {
						hs = append(hs, h)
					}
				} else {
					err = c.TryPut(1, int64(8*sent), pattern(8, sent))
				}
				switch {
				case err == nil:
					sent++
				case errors.Is(err, ErrWouldBlock):
					refused++
					if after := m.numbers.Used(); after > before {
						t.Fatalf("a refused put leaves %d operations, before %d", after, before)
					}
				default:
					t.Fatal(err)
				}
			}
			h, err := m.TryGetNB(1, int64(8*sent), make([]byte, 8)) // where no put is under way
			if err != nil && !errors.Is(err, ErrWouldBlock) {
				t.Error(err)
			}
			hs = append(hs, h)
			if err == nil && v.name != "fault" && v.fabric == "" { // faults refuse at random
				t.Error("a get goes where puts do not")
			}
			j.run(func(m *Memory) error {
				if m.Rank() != 0 {
					return nil
				}
				if err := errors.Join(WaitAll(hs), c.WaitPuts()); err != nil {
					return err
				}
				for {
					h, err := m.TryPutNB(1, int64(8*sent), pattern(8, sent))
					if err == nil {
						sent++
						return h.Wait()
					}
					if !errors.Is(err, ErrWouldBlock) {
						return err
					}
				}
			})
			for i := range sent {
				if d := differ(j.ms[1].Segment()[8*i:8*i+8], pattern(8, i)); d != "" {
					t.Fatalf("put %d: %s", i, d)
				}
			}
		})
	}
}

// TestPrepared: payloads are negotiated, filled in place and put; a Medium too.
func TestPrepared(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		var got [2]atomic.Pointer[[]byte]
		for i, e := range j.es {
			err := e.Register(10, am.Spec{Name: "medium", MaxReply: am.NoReply, Run: func(_ *am.Token, a []uint64, p []byte) {
				b := append([]byte{byte(a[0])}, p...)
				got[i].Store(&b)
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			p, err := m.PreparePut(peer, 8, 10, 100000)
			if err != nil {
				return err
			}
			yes, _ := direct(m, peer)
			if yes && len(p.Buf) != 100000 || !yes && len(p.Buf) != m.frag {
				return fmt.Errorf("%d bytes, direct %v", len(p.Buf), yes)
			}
			n := copy(p.Buf, pattern(3000, 1))
			if _, err := p.Commit(len(p.Buf) + 1); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("too much: %w", err)
			}
			if err := p.CommitMedium(1); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("a put is no Medium: %w", err)
			}
			h, err := p.Commit(n)
			if err != nil {
				return err
			}
			if _, err := p.Commit(1); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("second commit: %w", err)
			}
			if err := h.Wait(); err != nil {
				return err
			}
			q, err := m.PrepareMedium(peer, 10, 1, 50)
			if err != nil {
				return err
			}
			copy(q.Buf, pattern(50, 2))
			if err := q.CommitMedium(40, 9); err != nil {
				return err
			}
			b.wait()
			if d := differ(m.Segment()[8:3008], pattern(3000, 1)); d != "" {
				return errors.New(d)
			}
			eventually(t, "the Medium", func() bool { return got[m.Rank()].Load() != nil })
			if d := differ(*got[m.Rank()].Load(), append([]byte{9}, pattern(40, 2)...)); d != "" {
				return fmt.Errorf("medium: %s", d)
			}
			if p, err = m.PreparePut(peer, 0, 5, 10); err != nil {
				return err
			}
			p.Cancel()
			if _, err := m.PreparePut(peer, 0, 6, 5); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("least above most: %w", err)
			}
			if _, err := m.PrepareMedium(peer, 10, 1<<20, 1<<20); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("too large: %w", err)
			}
			return nil
		})
	})
}
