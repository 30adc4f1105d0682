package suite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/bench/credits"
)

func TestTwinsRunInJobsOfTheirOwn(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	c, out := config(t, "flow", "put", "get", "notify")
	c.Sizes, c.JSON = []int{8, 64}, true
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	checkRows(t, out, "flow 8 1", "flow 64 1", "put 8 1", "put 64 1", "get 8 1", "get 64 1", "notify 8 1", "notify 64 1")
	for _, name := range []string{"flow", "put", "get", "notify"} {
		c, _ := config(t, name)
		c.N = 3
		if err := Run(t.Context(), c); !errors.Is(err, ErrUsage) {
			t.Errorf("%s with three ranks: %v", name, err)
		}
		c.N, c.Sizes = 2, []int{7}
		if err := Run(t.Context(), c); !errors.Is(err, ErrUsage) {
			t.Errorf("%s of 7 bytes: %v", name, err)
		}
	}
}

func TestCreditsAreShownAndDrawn(t *testing.T) {
	c, out := config(t, "credits")
	c.CreditRanks, c.Duration, c.Plot = 2, 20*time.Millisecond, filepath.Join(t.TempDir(), "x.svg")
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"static", "chain", "pairs"} {
		if !strings.Contains(out.String(), "\n"+pattern) {
			t.Errorf("no row of %s in\n%s", pattern, out)
		}
	}
	if svg, err := os.ReadFile(c.Plot); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("plot: %v", err)
	}
	c.CreditRanks = 1
	if err := Run(t.Context(), c); !errors.Is(err, credits.ErrConfig) {
		t.Errorf("one rank: %v", err)
	}
}

// TestLoansAreOfSeveralRanks: the comparison of the modes of flow control is found by its name.
func TestLoansAreOfSeveralRanks(t *testing.T) {
	c, _ := config(t, "loans")
	if c.N = 1; !errors.Is(Run(t.Context(), c), credits.ErrConfig) {
		t.Error("loans of one rank")
	}
}
