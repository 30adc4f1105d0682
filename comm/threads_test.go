package comm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// newThreadJob is newJob with a scheduler of one worker for each rank.
func newThreadJob(t testing.TB, n int, cc conduit.Config, pin bool) (job, []*fult.Scheduler) {
	t.Helper()
	cs := joined(t, n, cc)
	var err error
	j, stops := make(job, n), make([]func(), n)
	scheds := make([]*fult.Scheduler, n)
	for i := range j {
		fc := fult.Config{Workers: 1}
		if pin && runtime.NumCPU() >= n {
			fc.Pin = []int{i}
		}
		if scheds[i], err = fult.New(fc); err != nil {
			t.Fatal(err)
		}
		j[i], stops[i] = newServer(t, cs[i], Config{Entries: 1 << 16}, func(c *am.Config) { c.Scheduler = scheds[i] })
	}
	t.Cleanup(func() {
		for i, stop := range stops {
			stop()
			if err := scheds[i].Close(); err != nil {
				t.Error(err)
			}
			if err := cs[i].Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return j, scheds
}

// TestThreadsOfEveryKind has fult threads, goroutines and locked OS threads of two ranks talk at once.
func TestThreadsOfEveryKind(t *testing.T) {
	j, scheds := newThreadJob(t, 2, conduit.Config{}, false)
	rounds, each := 50, 20
	if invariants.Enabled {
		rounds = 10
	}
	var mu sync.Mutex
	var errs []error
	note := func(err error) {
		if err != nil {
			mu.Lock()
			errs = append(errs, err)
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for r, s := range j {
		for i := range each {
			h, err := scheds[r].Go(func(*fult.Thread) { note(pingPong(s, 1-r, i, rounds)) })
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() { note(h.Join()) })
			wg.Go(func() { note(pingPong(s, 1-r, 100+i, rounds)) })
			wg.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				note(pingPong(s, 1-r, 200+i, rounds))
			})
		}
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestThreadsWaitForMany(t *testing.T) {
	j, scheds := newThreadJob(t, 2, conduit.Config{}, false)
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for r, s := range j {
		wg.Add(1)
		_, err := scheds[r].Go(func(*fult.Thread) {
			defer wg.Done()
			errs[r] = exchange(s, 1-r)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func exchange(s *Server, peer int) error {
	const window = 40
	for round := range 20 {
		rs := make([]Req, 0, 2*window)
		in := make([][]byte, window)
		for i := range window {
			in[i] = make([]byte, 100*i)
			r, err := s.Irecv(2, peer, i, in[i], nil)
			if err != nil {
				return err
			}
			rs = append(rs, r)
		}
		for i := range window {
			b := make([]byte, 100*i)
			pattern(b, i+round)
			r, err := s.Isend(2, peer, i, b, nil)
			if err != nil {
				return err
			}
			rs = append(rs, r)
		}
		if round%2 == 0 {
			if err := s.AwaitAny(rs[:window]); err != nil {
				return err
			}
		}
		if err := s.AwaitAll(rs); err != nil {
			return err
		}
		for i, r := range rs {
			if _, err := s.Wait(r); err != nil {
				return err
			}
			if i < window {
				if err := checkPattern(in[i], i+round); err != nil {
					return fmt.Errorf("round %d, message %d: %w", round, i, err)
				}
			}
		}
	}
	return nil
}

// BenchmarkThreads is T threads on each of two ranks, thread i ping-ponging 8 bytes with its twin under tag i. An op
// is a message.
func BenchmarkThreads(b *testing.B) {
	for _, threads := range []int{1, 2, 16, 64, 1024, 16384} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) { benchThreads(b, threads) })
	}
}

func benchThreads(b *testing.B, threads int) {
	j, scheds := newThreadJob(b, 2, conduit.Config{}, true)
	var wg sync.WaitGroup
	b.ResetTimer()
	for r, s := range j {
		for i := range threads {
			wg.Add(1)
			_, err := scheds[r].Go(func(*fult.Thread) {
				defer wg.Done()
				if err := pingPongUntil(s, 1-r, i, b.N/threads/2+1); err != nil {
					b.Error(err)
				}
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	wg.Wait()
}

func pingPongUntil(s *Server, peer, tag, rounds int) error {
	buf := make([]byte, 8)
	for i := range rounds {
		if s.Rank() == 0 {
			binary.LittleEndian.PutUint64(buf, uint64(i))
			if err := s.Send(1, peer, tag, buf, nil); err != nil {
				return err
			}
		}
		if _, err := s.Recv(1, peer, tag, buf, nil); err != nil {
			return err
		}
		if s.Rank() == 1 {
			if err := s.Send(1, peer, tag, buf, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
