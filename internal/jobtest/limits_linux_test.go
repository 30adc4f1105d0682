package jobtest

import "testing"

// limit is a requirement: no more than most. Where the project does not meet it yet, now is the bound that holds meanwhile,
// and why is the cause; without a cause there is nothing between most and failure.
type limit struct {
	what      string
	most, now float64
	why       string
}

var (
	idleShare = limit{
		"share of a core that an idle job uses", 0.01, 0.25,
		"a goroutine that drives looks up every millisecond while a worker sleeps in the conduit before it",
	}
	objects   = limit{what: "objects allocated", most: allocMost}
	perThread = limit{
		"resident bytes of a thread that waits in a receive", 3.5 * 1024, 4200,
		"the heap's part of it is 1.5 KB, and one stack in ten has grown to 4 KB",
	}
)

// check fails if got is too much for what names.
func (l limit) check(t *testing.T, got float64, what string) {
	t.Helper()
	switch {
	case got <= l.most:
	case l.why != "" && got <= l.now:
		t.Logf("NOT MET: %s: %.4g, want at most %.4g (%s): %s", l.what, got, l.most, what, l.why)
	default:
		t.Errorf("%s: %.4g, want at most %.4g (%s)", l.what, got, l.most, what)
	}
}
