package core

import "testing"

func TestChoose(t *testing.T) {
	var s idSet
	if got := plainIDs.choose(&s, 0, 0); got != -1 {
		t.Errorf("from an empty set: %d", got)
	}
	s[3] = 1 << 5
	for try := range 20 {
		if got := plainIDs.choose(&s, 7, try); got != 3*64+5 {
			t.Errorf("try %d: %d", try, got)
		}
	}
}
