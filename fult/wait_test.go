package fult

import (
	"runtime"
	"testing"
)

// TestWaitLeavesNothing: a caller that has waited for all threads is not signalled at the end of later ones.
func TestWaitLeavesNothing(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	gate, waited := make(chan struct{}), make(chan error)
	if _, err := s.Go(func(th *Thread) { _, _ = Recv(th, gate) }); err != nil {
		t.Fatal(err)
	}
	go func() { waited <- s.Wait() }()
	listed := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.drained)
	}
	for listed() == 0 {
		runtime.Gosched()
	}
	close(gate)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if n := listed(); n != 0 {
		t.Errorf("%d are listed as waiting", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
