package mpi

import (
	"runtime"
	"testing"
	"time"
)

// TestDifferingCountsEnd: ranks whose counts differ get errors, while others are in the middle of large messages to
// those that have left. Whatever they are in ends, and Run returns.
func TestDifferingCountsEnd(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for _, conduit := range []string{"local", "udp"} {
		t.Run(conduit, func(t *testing.T) {
			for round := range rounds {
				for _, base := range []int{20_000, 400_000} {
					done := make(chan error, 1)
					go func() {
						done <- Run(4, func(c *Comm) error {
							n := base + base*c.Rank()
							return Allreduce(c, make([]float64, n), make([]float64, n), Sum)
						}, With("GOLCI_CONDUIT", conduit))
					}()
					select {
					case err := <-done:
						if err == nil {
							t.Errorf("round %d: counts from %d on differ without an error", round, base)
						}
					case <-time.After(2 * time.Minute):
						buf := make([]byte, 1<<18)
						t.Fatalf("round %d, counts from %d on: Run does not return\n%s", round, base, buf[:runtime.Stack(buf, true)])
					}
				}
			}
		})
	}
}
