package inside

import (
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

//go:noinline
func waitFor(gate chan struct{}) { <-gate }

func TestWaits(t *testing.T) {
	const name = "inside.waitFor"
	if Function(name) {
		t.Error("nobody is in there yet")
	}
	gate := make(chan struct{})
	waits, ended := Waits(name, func() { waitFor(gate) })
	if !waits {
		t.Error("it is told to have returned, and waits")
	}
	close(gate)
	<-ended
	if waits, ended = Waits(name, func() {}); waits {
		t.Error("it is told to wait, and has returned")
	}
	<-ended
}

// TestManyStacks: the function is found behind the stacks of many goroutines.
func TestManyStacks(t *testing.T) {
	gate, others := make(chan struct{}), make(chan struct{})
	defer close(others)
	_, ended := Waits("inside.waitFor", func() { waitFor(gate) })
	for range 2000 {
		go func() { <-others }()
	}
	for runtime.NumGoroutine() < 2000 {
		runtime.Gosched()
	}
	if !Function("inside.waitFor") {
		t.Error("it was not found")
	}
	close(gate)
	<-ended
}
