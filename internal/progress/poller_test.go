package progress

import (
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// left is a source in which a goroutine that drives has just ceased to sleep when a worker's first call was refused.
type left struct {
	e      *Engine
	sleeps int
}

func (l *left) Poll(*fult.Worker) int { return 0 }
func (l *left) Wake()                 {}

func (l *left) Sleep(time.Duration, func() bool) bool {
	l.sleeps++
	l.e.driving.Store(0)
	return l.sleeps > 1
}

// TestSleepAfterADriver: a worker that wants to sleep just as a driver leaves takes its place, so that somebody
// listens.
func TestSleepAfterADriver(t *testing.T) {
	src := new(left)
	src.e = New(src, nil, Config{})
	src.e.driving.Store(1)
	if !src.e.Poller().Sleep(time.Hour, func() bool { return false }) {
		t.Error("nobody sleeps in the source, and nobody drives")
	}
}
