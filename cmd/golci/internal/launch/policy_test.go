//go:build unix

package launch

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rewrite = flag.Bool("rewrite", false, "rewrite the scenarios in testdata to what happens now")

// TestPolicyScenarios replays the text files of testdata: a line is an event, the indented lines below it what the
// launcher does then.
func TestPolicyScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			old, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			now := replay(t, string(old))
			if *rewrite {
				if err := os.WriteFile(f, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if now != string(old) {
				t.Errorf("got:\n%s\nwant:\n%s", now, old)
			}
		})
	}
}

func replay(t *testing.T, script string) string {
	t.Helper()
	var p *policy
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&out, line)
		word := strings.Fields(line)
		var orders []order
		switch {
		case len(word) == 0 || word[0] == "#":
			continue
		case word[0] == "ranks":
			p = newPolicy(number(t, word[1]), time.Second, time.Minute)
		case word[0] == "exit":
			orders = p.exited(number(t, word[1]), readStatus(t, word[2:]))
		case word[0] == "fail":
			orders = p.failed(number(t, word[1]), number(t, word[2]), strings.Join(word[3:], " "))
		case word[0] == "leave":
			orders = p.leaves(number(t, word[1]), strings.Join(word[2:], " "))
		case word[0] == "signal":
			orders = p.signalled(unix.SignalNum(word[1]))
		case word[0] == "timeout":
			orders = p.timedOut(time.Minute)
		case word[0] == "alarm":
			orders = p.alarm()
		default:
			t.Fatalf("line %q", line)
		}
		for _, o := range orders {
			fmt.Fprintln(&out, "  "+describe(o))
		}
		if p.done() {
			fmt.Fprintf(&out, "  done, code %d\n", p.code)
		}
	}
	return out.String()
}

func readStatus(t *testing.T, words []string) status {
	st := status{joined: true, left: true}
	for _, w := range words {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "code":
			st.code = number(t, value)
		case "signal":
			st.signal = unix.SignalNum(value)
		case "core":
			st.core = true
		case "stranger":
			st.joined, st.left = false, false
		case "unfinished":
			st.left = false
		default:
			t.Fatalf("status %q", w)
		}
	}
	return st
}

func describe(o order) string {
	switch o.kind {
	case orderSay:
		return "say " + o.text
	case orderKill:
		return "kill " + unix.SignalName(o.signal)
	case orderStop:
		return "stop"
	}
	return "alarm " + o.after.String()
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSignalName(t *testing.T) {
	for sig, want := range map[syscall.Signal]string{9: "signal 9 (SIGKILL)", 15: "signal 15 (SIGTERM)", 200: "signal 200"} {
		if got := signalName(sig); got != want {
			t.Errorf("%d: %q", sig, got)
		}
	}
}
