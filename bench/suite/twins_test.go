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

// TestCreditsAreShownAndDrawn: the view, the ranks and the duration reach the package.
func TestCreditsAreShownAndDrawn(t *testing.T) {
	c, out := config(t, "credits")
	c.Credit = credits.Config{Ranks: 2}
	c.Duration, c.Plot = 20*time.Millisecond, filepath.Join(t.TempDir(), "x.svg")
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"ring", "chain", "pairs"} {
		if !strings.Contains(out.String(), "# "+pattern+"\n") {
			t.Errorf("no row of %s in\n%s", pattern, out)
		}
	}
	if svg, err := os.ReadFile(c.Plot); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("plot: %v", err)
	}
	for _, view := range credits.Views() {
		c.Credit = credits.Config{View: view, Ranks: 1}
		if err := Run(t.Context(), c); !errors.Is(err, credits.ErrConfig) {
			t.Errorf("%s of one rank: %v", view, err)
		}
	}
}
