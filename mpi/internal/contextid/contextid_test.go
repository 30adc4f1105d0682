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
