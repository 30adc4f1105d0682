package contextid

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestChoose(t *testing.T) {
	var s Set
	if got := Plain.chooseID(&s, 0, 0); got != -1 {
		t.Errorf("from an empty set: %d", got)
	}
	s[3] = 1 << 5
	for try := range 20 {
		if got := Plain.chooseID(&s, 7, try); got != 3*64+5 {
			t.Errorf("try %d: %d", try, got)
		}
	}
}

// TestInit: at the start all ids are free but those of the first communicators. The set has room for some above Max,
// which are none.
func TestInit(t *testing.T) {
	var x IDs
	x.Init(nil)
	free := x.Snapshot()
	for id := range 64 * len(free) {
		want := id < Max && id != World && id != Self && id != System
		if got := free[id/64]>>(id%64)&1 != 0; got != want {
			t.Errorf("id %d: free %v, want %v", id, got, want)
		}
	}
}
