package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
)

const actEnv = "GOLCI_JOB_TEST_ACT"

// The test binary is the launcher under test too.
func TestMain(m *testing.M) {
	if act := os.Getenv(actEnv); act != "" {
		os.Exit(play(act))
	}
	goleak.VerifyTestMain(m)
}

func play(act string) int {
	row := `{"bench":"latency","impl":"x","size":8,"threads":1,"value":%d,"unit":"us","min_share":1,"crossing_ns":0}`
	fmt.Printf("noise\n"+row+"\n", 1)
	switch act {
	case "fail":
		fmt.Fprintln(os.Stderr, "the reason")
		return 3
	case "hang":
		time.Sleep(time.Hour)
	case "stray": // a rank in a process group of its own that outlives the launcher
		stray := exec.Command(os.Getenv("STRAY"))
		stray.Env = append(os.Environ(), actEnv+"=hang")
		stray.Stdout = io.Discard
		setGroup(stray)
		if err := stray.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 4
		}
	}
	fmt.Printf(row+"\n", 2)
	return 0
}

func run(t *testing.T, act string, limit time.Duration, env ...string) ([]bench.Row, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var rows []bench.Row
	j := Job{
		Argv: []string{exe}, Env: append(env, actEnv+"="+act), Limit: limit,
		Row: func(r bench.Row) { rows = append(rows, r) },
	}
	if len(env) > 0 {
		j.Strays = strings.TrimPrefix(env[0], "STRAY=")
	}
	err = Run(t.Context(), j)
	return rows, err
}

func TestRowsComeOut(t *testing.T) {
	rows, err := run(t, "good", time.Minute)
	if err != nil || len(rows) != 2 || rows[1].Value != 2 {
		t.Errorf("rows %+v, error %v", rows, err)
	}
}

func TestFailureIsToldWithItsReason(t *testing.T) {
	rows, err := run(t, "fail", time.Minute)
	if err == nil || !strings.Contains(err.Error(), "the reason") {
		t.Errorf("error %v, want the launcher's own words", err)
	}
	if len(rows) != 1 {
		t.Errorf("%d rows, want the one that came before the failure", len(rows))
	}
}

func TestAHangingJobIsEnded(t *testing.T) {
	_, err := run(t, "hang", 200*time.Millisecond)
	if !errors.Is(err, ErrTime) {
		t.Errorf("error %v, want %v", err, ErrTime)
	}
}

func TestCancelEndsAJob(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j := Job{Argv: []string{exe}, Env: []string{actEnv + "=hang"}, Limit: time.Hour, Row: func(bench.Row) { cancel() }}
	if err := Run(ctx, j); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestStraysAreKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no way to list the processes of a program")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(t.TempDir(), "stray")
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stray, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "stray", time.Minute, "STRAY="+stray); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); len(alive(stray)) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("processes %v still run", alive(stray))
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	w := &tail{max: 4}
	for _, s := range []string{"abc", "defgh", "i"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if w.String() != "fghi" {
		t.Errorf("kept %q", w)
	}
}
