package fult

import (
	"testing"
	"time"
)

// TestEndIsCountedBeforeItIsTold: a caller that learns by Join, Done or Wait of the end of a thread finds the same by
// the other two.
func TestEndIsCountedBeforeItIsTold(t *testing.T) {
	const span = time.Second / 2
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		for n, end := 0, time.Now().Add(span); time.Now().Before(end); n++ {
			h := spawn(t, s, func(*Thread) {})
			switch n % 3 {
			case 0:
				for !h.Done() {
				}
			case 1:
				join(t, h)
			default:
				if err := s.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			if live, done := s.Live(), h.Done(); live != 0 || !done {
				t.Fatalf("round %d: %d alive, done: %v", n, live, done)
			}
		}
	})
}
