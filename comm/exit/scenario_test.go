package exit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the scenarios in testdata to what happens now")

// TestScenarios replays the text files of testdata: a line is an input, the indented lines below it what the rank does then.
func TestScenarios(t *testing.T) {
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

// replay understands
//
//	rank R of N        a new machine: settles 50ms, limit 5s
//	exit C, abort C    calls of the program
//	told F C R         news from rank F: code C of rank R, -1 for none
//	round F K C R      its message of round K
//	abort F C R        its abort
//	died F             rank F is gone
//	tick D             time goes on by D
func replay(t *testing.T, script string) string {
	t.Helper()
	var m *Machine
	var out strings.Builder
	now := epoch
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&out, line)
		var a, b, c, d int
		var acts []Action
		is := func(format string, args ...any) bool {
			n, err := fmt.Sscanf(line, format+"\n", args...)
			return err == nil && n == len(args)
		}
		var span string
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case is("rank %d of %d", &a, &b):
			var err error
			if m, err = New(Config{Rank: a, Size: b, Settle: 50 * time.Millisecond, Limit: 5 * time.Second}); err != nil {
				t.Fatal(err)
			}
		case is("exit %d", &a):
			acts = m.Exit(now, a)
		case is("abort %d %d %d", &a, &b, &c):
			acts = m.Take(now, a, Message{Abort, 0, Verdict{uint8(b), c}})
		case is("abort %d", &a):
			acts = m.Abort(now, a)
		case is("told %d %d %d", &a, &b, &c):
			acts = m.Take(now, a, Message{Told, 0, Verdict{uint8(b), c}})
		case is("round %d %d %d %d", &a, &b, &c, &d):
			acts = m.Take(now, a, Message{Round, uint8(b), Verdict{uint8(c), d}})
		case is("died %d", &a):
			acts = m.Died(a)
		case is("tick %s", &span):
			d, err := time.ParseDuration(span)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
			acts = m.Tick(now)
		default:
			t.Fatalf("line %q", line)
		}
		for _, x := range acts {
			fmt.Fprintln(&out, "  "+describe(x))
		}
	}
	return out.String()
}

func describe(a Action) string {
	v := a.Verdict
	switch a.Kind {
	case Send:
		v = a.Msg.Verdict
		name := map[Kind]string{Told: "told", Round: fmt.Sprint("round ", a.Msg.Round), Abort: "abort"}[a.Msg.Kind]
		return fmt.Sprintf("to %d: %s, code %d of %d", a.To, name, v.Code, v.Rank)
	case GiveUp:
		return fmt.Sprintf("give up with code %d of %d, waiting for %d", v.Code, v.Rank, a.To)
	}
	if a.Aborted {
		return fmt.Sprintf("aborted with code %d of %d", v.Code, v.Rank)
	}
	return fmt.Sprintf("finish with code %d of %d", v.Code, v.Rank)
}
