package scenario

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReplay(t *testing.T) {
	twice := func(line string) []string { return []string{line, line} }
	const want = "# a comment\none\n  one\n  one\n\ntwo\n  two\n  two\n"
	for _, script := range []string{want, "# a comment\none\n\ntwo\n", "# a comment\none\n  stale\n\ntwo\n  one\n  two\n  three\n"} {
		if got := replay(script, twice); got != want {
			t.Errorf("%q gave %q", script, got)
		}
	}
}
