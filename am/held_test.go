package am

import (
	"testing"

	"github.com/golci/golci/fult"
)

// TestHeld: while a layer holds something back, polls call it, though nothing arrives; otherwise they do not. Nobody
// sleeps for long meanwhile.
func TestHeld(t *testing.T) {
	e := endpoints(t, 1, variants[0], Config{})[0]
	calls := 0
	held := func(*fult.Worker) int {
		calls++
		return 1
	}
	if err := e.Attach(Layer{Name: "holds", Held: held}); err != nil {
		t.Fatal(err)
	}
	for step, n := range []int32{0, 1, 1, -1, -1} {
		e.Hold(n)
		before, want := calls, 0
		if holds := step >= 1 && step <= 3; holds {
			want = 1
		}
		if did := e.Poll(); calls-before != want || did != want || e.toSend() != (want == 1) {
			t.Errorf("step %d: %d calls, %d done, to send: %v", step, calls-before, did, e.toSend())
		}
	}
}
