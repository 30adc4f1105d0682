package fult

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// BenchmarkRing hands a token round a ring: one operation is one signal and one wait. BenchmarkSwitch has the rivals.
func BenchmarkRing(b *testing.B) {
	for _, n := range []int{2, 64, 1024, 16384} {
		b.Run(fmt.Sprintf("threads=%d", n), func(b *testing.B) { ringFult(b, n) })
	}
}

func ringFult(b *testing.B, n int) {
	s := open(b, Config{})
	ths := make([]*Thread, n)
	var hs []Handle
	left, ready := b.N, 0
	for i := range n {
		hs = append(hs, spawn(b, s, func(t *Thread) {
			ths[i] = t
			w := t.Worker()
			if ready++; ready == n {
				b.ResetTimer()
				w.Signal(ths[0])
			}
			for left > 0 {
				t.Wait()
				left--
				w.Signal(ths[(i+1)%n])
			}
			b.StopTimer()
			w.Signal(ths[(i+1)%n]) // lets the next one see that it is over
		}))
	}
	join(b, hs...)
}

// BenchmarkYield has all threads runnable all the time: one operation is one switch.
func BenchmarkYield(b *testing.B) {
	for _, n := range []int{1, 2, 64, 1024, 16384, 262144} {
		b.Run(fmt.Sprintf("threads=%d", n), func(b *testing.B) {
			s := open(b, Config{})
			var hs []Handle
			left := b.N
			var ths []*Thread
			for range n {
				hs = append(hs, spawn(b, s, func(t *Thread) {
					ths = append(ths, t)
					if len(ths) == n {
						for _, o := range ths {
							o.Signal()
						}
						b.ResetTimer()
					}
					for len(ths) < n {
						t.Wait()
					}
					for ; left > 0; left-- {
						t.Yield()
					}
					b.StopTimer()
				}))
			}
			join(b, hs...)
		})
	}
}

func BenchmarkSpawnJoin(b *testing.B) {
	b.Run("impl=fult", func(b *testing.B) {
		s := open(b, Config{})
		b.ReportAllocs()
		join(b, spawn(b, s, func(*Thread) {
			for range b.N {
				h, err := s.Go(func(*Thread) {})
				if err == nil {
					err = h.Join()
				}
				if err != nil {
					b.Error(err)
				}
			}
		}))
	})
	b.Run("impl=goroutine", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			var wg sync.WaitGroup
			wg.Go(func() {})
			wg.Wait()
		}
	})
}

// BenchmarkCrossSignal is a ping-pong between threads of two workers: one operation is one signal and its hand-over.
func BenchmarkCrossSignal(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("one CPU")
	}
	s := open(b, Config{Workers: 2, Pin: []int{0, 1}, Spin: time.Millisecond})
	var ths [2]*Thread
	var up sync.WaitGroup
	up.Add(2)
	left := b.N
	var hs []Handle
	for i := range 2 {
		h, err := s.GoOn(i, func(t *Thread) {
			ths[i] = t
			up.Done()
			for {
				t.Wait()
				left--
				ths[1-i].Signal()
				if left <= 0 {
					return
				}
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		hs = append(hs, h)
	}
	up.Wait()
	b.ResetTimer()
	ths[0].Signal()
	join(b, hs...)
}

// BenchmarkSignalAcross is the cost for a thread that signals threads of another worker in turn, as they consume it.
func BenchmarkSignalAcross(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("one CPU")
	}
	const targets = 64
	s := open(b, Config{Workers: 2, Pin: []int{0, 1}, Spin: time.Millisecond})
	var ths [targets]*Thread
	var up sync.WaitGroup
	up.Add(targets)
	for i := range targets {
		_, err := s.GoOn(0, func(t *Thread) {
			ths[i] = t
			up.Done()
			for {
				t.Wait()
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	up.Wait()
	h, err := s.GoOn(1, func(*Thread) {
		b.ResetTimer()
		for i := range b.N {
			ths[i%targets].Signal()
		}
		b.StopTimer()
	})
	if err != nil {
		b.Fatal(err)
	}
	join(b, h)
}

// BenchmarkSignal is the signaller's cost alone.
func BenchmarkSignal(b *testing.B) {
	for _, where := range []string{"private", "shared"} {
		b.Run("path="+where, func(b *testing.B) {
			s := open(b, Config{})
			join(b, spawn(b, s, func(t *Thread) {
				w := t.Worker()
				for range b.N {
					if where == "private" {
						w.Signal(t)
					} else {
						t.Signal()
					}
				}
			}))
		})
	}
}

func BenchmarkCurrent(b *testing.B) {
	s := open(b, Config{})
	join(b, spawn(b, s, func(t *Thread) {
		for range b.N {
			if s.Current() != t {
				b.Error("wrong")
			}
		}
	}))
}
