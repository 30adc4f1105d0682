package fult

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestHandOverIsDirect: threads that signal each other go through the loop, which polls each time, no more often than
// the budget says.
func TestHandOverIsDirect(t *testing.T) {
	for _, n := range []int{2, 5, 64} {
		s := open(t, Config{coroutines: true, Spin: -1, pollWithin: time.Hour})
		p := newCounting()
		if err := s.SetPoller(p); err != nil {
			t.Fatal(err)
		}
		const rounds = 3200
		ths := make([]*Thread, n)
		hops, up, token := 0, 0, 0
		var begin, end int64
		var hs []Handle
		for i := range n {
			hs = append(hs, mustGoOn(t, s, 0, func(th *Thread) {
				ths[i] = th
				if up++; up == n {
					begin = p.polls.Load()
					th.Worker().Signal(ths[0])
				}
				for hops < rounds {
					for token != i || up < n {
						th.Wait()
						if hops >= rounds {
							break
						}
					}
					hops++
					token = (i + 1) % n
					th.Worker().Signal(ths[token])
				}
				end = max(end, p.polls.Load())
				th.Worker().Signal(ths[(i+1)%n])
			}))
		}
		join(t, hs...)
		if polls := end - begin; polls > rounds/switchesPerPoll+int64(2*n) {
			t.Errorf("%d threads, %d hand-overs, %d turns of the loop", n, hops, polls)
		}
	}
}

// TestRandomLives mixes all ways in which a thread stops, starts and ends, on two workers. There are more threads than
// coroutines are kept. Each thread must end as it should, and be unwound once.
func TestRandomLives(t *testing.T) {
	n := seed(t)
	s := open(t, Config{Workers: 2, coroutines: true})
	threads := 3 * maxWarm
	if raceEnabled {
		threads = maxWarm + 500
	}
	boom := errors.New("boom")
	var deferred atomic.Int64
	type life struct {
		h    Handle
		want error
	}
	lives := make([]life, threads)
	ends := []error{nil, nil, nil, ErrGoexit, boom}
	for i := range lives {
		r := rand.New(rand.NewPCG(n, uint64(i)))
		want := ends[r.IntN(len(ends))]
		lives[i] = life{want: want, h: spawn(t, s, func(th *Thread) {
			defer deferred.Add(1)
			randomSteps(th, r)
			switch want {
			case ErrGoexit:
				runtime.Goexit()
			case boom:
				panic(boom)
			}
		})}
	}
	for i, l := range lives {
		if err := l.h.Join(); !errors.Is(err, l.want) || (l.want == nil && err != nil) {
			t.Fatalf("thread %d: %v, want %v", i, err, l.want)
		}
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := deferred.Load(); got != int64(threads) {
		t.Errorf("%d deferred calls for %d threads", got, threads)
	}
}

func randomSteps(th *Thread, r *rand.Rand) {
	for range r.IntN(8) {
		switch r.IntN(4) {
		case 0:
			th.Yield()
		case 1:
			th.Signal()
			th.Wait()
		case 2:
			th.Sleep(1)
		case 3:
			exit := r.IntN(2) == 0
			h, err := th.w.s.Go(func(o *Thread) {
				o.Yield()
				if exit {
					runtime.Goexit()
				}
			})
			if err != nil {
				panic(err)
			}
			if err := h.Join(); exit != errors.Is(err, ErrGoexit) {
				panic(err)
			}
		}
	}
}
