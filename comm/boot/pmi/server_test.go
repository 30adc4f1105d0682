package pmi

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rewrite = flag.Bool("rewrite", false, "rewrite the scenarios in testdata to what happens now")

// TestServerScenarios replays the text files of testdata. "size N" begins a job, "R> line" is a line from rank R, and
// "gone R" the end of rank R; indented lines are what the server does then.
func TestServerScenarios(t *testing.T) {
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
	var s *Server
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&out, line)
		var acts []Action
		who, text, isLine := strings.Cut(line, "> ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "size "):
			var err error
			s, err = NewServer(Config{
				Size: number(t, line[5:]), KVSName: "kvs", Preset: map[string]string{KeyMapping: "(vector,(0,1,3))"},
			})
			if err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, "gone "):
			acts = s.Gone(number(t, line[5:]))
		case isLine:
			acts = s.Handle(number(t, who), []byte(text))
		default:
			t.Fatalf("line %q", line)
		}
		for _, a := range acts {
			fmt.Fprintln(&out, "  "+describe(a))
		}
	}
	return out.String()
}

func describe(a Action) string {
	switch a.Kind {
	case Send:
		return fmt.Sprintf("%d< %s", a.Rank, a.Msg)
	case Fail:
		return fmt.Sprintf("fail rank=%d code=%d: %s", a.Rank, a.Code, a.Text)
	case Leave:
		return fmt.Sprintf("leave rank=%d code=%d: %s", a.Rank, a.Code, a.Text)
	}
	return fmt.Sprintf("hang rank=%d: %s", a.Rank, a.Text)
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestServerConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: 0, KVSName: "k"},
		{Size: 1},
		{Size: 1, KVSName: "a b"},
		{Size: 1, KVSName: strings.Repeat("k", MaxName+1)},
	} {
		if _, err := NewServer(c); err == nil {
			t.Errorf("%+v accepted", c)
		}
	}
}
