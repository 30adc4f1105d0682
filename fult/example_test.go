package fult_test

import (
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/golci/golci/fult"
)

// scheduler makes a scheduler for an example. The program of a rank takes Proc.Threads instead.
func scheduler() *fult.Scheduler {
	s, err := fult.New(fult.Config{})
	if err != nil {
		log.Fatal(err)
	}
	return s
}

func Example() {
	s := scheduler()
	h, err := s.Go(func(*fult.Thread) { fmt.Println("in a thread") })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Join())
	fmt.Println(s.Close())
	// Output:
	// in a thread
	// <nil>
	// <nil>
}

// A thread receives from a Go channel. Its worker runs other threads meanwhile, such as the one that sends.
func ExampleRecv() {
	s := scheduler()
	ch := make(chan int)
	sum, err := s.Go(func(*fult.Thread) {
		n := 0
		for {
			v, ok := fult.Recv(nil, ch)
			if !ok {
				fmt.Println("sum", n)
				return
			}
			n += v
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Go(func(*fult.Thread) {
		for i := range 4 {
			if err := fult.Send(nil, ch, i); err != nil {
				log.Fatal(err)
			}
		}
		close(ch)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Join(), s.Close())
	// Output:
	// sum 6
	// <nil> <nil>
}

// Threads and goroutines share a Mutex. Its holder may wait meanwhile.
func ExampleMutex() {
	s := scheduler()
	var m fult.Mutex
	n := 0
	hs, err := s.GoAll(100, func(t *fult.Thread, _ int) {
		m.Lock(t) // nil would stand for the calling thread, too
		n++
		fult.Sleep(t, time.Microsecond)
		if err := m.Unlock(t); err != nil {
			log.Fatal(err)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hs {
		if err := h.Join(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(n, s.Close())
	// Output: 100 <nil>
}

// Blocking runs what may block, such as a select, on another goroutine.
func ExampleBlocking() {
	s := scheduler()
	number, text := make(chan int, 1), make(chan string)
	number <- 7
	h, err := s.Go(func(*fult.Thread) {
		fult.Blocking(nil, func() {
			select {
			case n := <-number:
				fmt.Println("number", n)
			case x := <-text:
				fmt.Println("text", x)
			}
		})
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Join(), s.Close())
	// Output:
	// number 7
	// <nil> <nil>
}

// Sleep is the same call in a thread, which leaves its worker to others, and on a goroutine.
func ExampleSleep() {
	s := scheduler()
	nap := func() { fult.Sleep(nil, time.Millisecond) }
	hs, err := s.GoAll(1000, func(*fult.Thread, int) { nap() }) // on one worker, all at once
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hs {
		if err := h.Join(); err != nil {
			log.Fatal(err)
		}
	}
	nap()
	fmt.Println(s.Close())
	// Output: <nil>
}

// A thread waits for others. Done is deferred, so that a thread that ends early counts as well.
func ExampleWaitGroup() {
	s := scheduler()
	var g fult.WaitGroup
	if err := g.Add(nil, 3); err != nil {
		log.Fatal(err)
	}
	parts := make([]int, 3)
	_, err := s.GoAll(3, func(t *fult.Thread, i int) {
		defer func() { _ = g.Done(t) }() // not below zero: each thread calls it once
		parts[i] = i * i
	})
	if err != nil {
		log.Fatal(err)
	}
	h, err := s.Go(func(t *fult.Thread) {
		g.Wait(t)
		fmt.Println(parts)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Join(), s.Close())
	// Output:
	// [0 1 4]
	// <nil> <nil>
}

// A thread waits at a Cond until another one has put something in a queue. It tests the condition in a loop.
func ExampleCond() {
	s := scheduler()
	var m fult.Mutex
	c := fult.Cond{L: &m}
	var queue []string
	taker, err := s.Go(func(t *fult.Thread) {
		m.Lock(t)
		for len(queue) == 0 {
			if err := c.Wait(t); err != nil { // lets the putter have the Mutex, and takes it again
				log.Fatal(err)
			}
		}
		fmt.Println("took", queue[0])
		if err := m.Unlock(t); err != nil {
			log.Fatal(err)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Go(func(t *fult.Thread) {
		m.Lock(t)
		queue = append(queue, "a word")
		c.Signal(t)
		if err := m.Unlock(t); err != nil {
			log.Fatal(err)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(taker.Join(), s.Close())
	// Output:
	// took a word
	// <nil> <nil>
}

// A thread waits for the signal of another one. The signal is kept if it comes before the wait.
func ExampleThread_Wait() {
	s := scheduler()
	h, err := s.Go(func(t *fult.Thread) {
		var ready atomic.Bool
		_, err := s.Go(func(*fult.Thread) {
			ready.Store(true)
			t.Signal()
		})
		if err != nil {
			log.Fatal(err)
		}
		for !ready.Load() { // a wait may return without cause
			t.Wait()
		}
		fmt.Println("ready")
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Join(), s.Close())
	// Output:
	// ready
	// <nil> <nil>
}
