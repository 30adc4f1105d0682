package rank

import (
	"runtime"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/udptest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// patience is how long a job of a test may take before it counts as hanging.
const patience = 2 * time.Minute

// with is a Config with settings: pairs of a variable and its value.
func with(pairs ...string) Config {
	c := Config{Settings: make(map[string]string)}
	for i := 0; i < len(pairs); i += 2 {
		c.Settings[pairs[i]] = pairs[i+1]
	}
	return c
}

// run runs f as n ranks.
func run(n int, cfg Config, f func(r *Rank) error) error {
	t, err := Local(n, cfg)
	if err != nil {
		return err
	}
	return t.Run(f)
}

// job is run that reports a hang with the stacks of all goroutines.
func job(t testing.TB, n int, cfg Config, f func(r *Rank) error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run(n, cfg, f) }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("the job of %d ranks hangs\n%s", n, buf[:runtime.Stack(buf, true)])
		return nil
	}
}

// must is job that may not fail.
func must(t testing.TB, n int, cfg Config, f func(r *Rank) error) {
	t.Helper()
	if err := job(t, n, cfg, f); err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
}
