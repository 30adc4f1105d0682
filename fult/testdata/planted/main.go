// Planted has a data race between two threads of one worker. With the argument "mended" it has none; with "many" it
// asks for more threads than the race detector allows and expects an error.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/golci/golci/fult"
)

var (
	shared int
	mu     fult.Mutex
)

func careless(t *fult.Thread) {
	for range 100 {
		shared++
		t.Yield()
	}
}

func careful(t *fult.Thread) {
	for range 100 {
		mu.Lock(t)
		shared++
		if err := mu.Unlock(t); err != nil {
			panic(err)
		}
		t.Yield()
	}
}

func main() {
	s, err := fult.New(fult.Config{Workers: 1})
	check(err)
	switch {
	case len(os.Args) == 1:
		run(s, careless)
	case os.Args[1] == "mended":
		run(s, careful)
	default:
		many(s)
	}
	check(s.Wait())
	check(s.Close())
}

// run lets both threads go on when both have begun: one that began after the other's end would not race with it.
func run(s *fult.Scheduler, f func(*fult.Thread)) {
	var begun sync.WaitGroup
	both := make(chan struct{})
	for range 2 {
		begun.Add(1)
		_, err := s.Go(func(t *fult.Thread) {
			begun.Done()
			<-both
			f(t)
		})
		check(err)
	}
	begun.Wait()
	close(both)
}

func many(s *fult.Scheduler) {
	gate := make(chan struct{})
	defer close(gate)
	for n := range 100_000 {
		_, err := s.Go(func(*fult.Thread) { <-gate })
		if errors.Is(err, fult.ErrTooMany) {
			fmt.Println("refused after", n)
			return
		}
		check(err)
	}
	check(errors.New("100,000 threads were accepted"))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
