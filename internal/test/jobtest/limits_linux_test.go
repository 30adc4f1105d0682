package jobtest

import "testing"

// limit is a requirement: no more than most.
type limit struct {
	what string
	most float64
}

var (
	idleShare = limit{"share of a core that an idle job uses", 0.01}
	objects   = limit{"objects allocated", allocMost}
	// 3.5 KB is the requirement for a million; the few threads of a test also share what the process takes by itself.
	perThread = limit{"resident bytes of a thread that waits in a receive", 3.5*1024 + 256}
)

// check fails if got is too much for what names.
func (l limit) check(t *testing.T, got float64, what string) {
	t.Helper()
	if got > l.most {
		t.Errorf("%s: %.4g, want at most %.4g (%s)", l.what, got, l.most, what)
	}
}
