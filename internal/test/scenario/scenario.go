// Package scenario replays text files that tell a pure core what happens and what it must do then; tests import it.
//
// A line is an input, the indented lines below it are what it leads to; empty lines and lines that begin with # say
// nothing. With the flag -rewrite the files are rewritten to what happens now, for a look at the difference.
package scenario

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the scenarios in testdata to what happens now")

// ParseNumber reads a number of a scenario; one that is none ends the test.
func ParseNumber(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Run replays each file testdata/*.txt as a test of its own. start is called for each; the function that it returns
// gets every input line and returns what must stand below it, a line each.
func Run(t *testing.T, start func(t *testing.T) func(line string) []string) {
	t.Helper()
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
			now := replay(string(old), start(t))
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

const indent = "  "

func replay(script string, step func(line string) []string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, indent) {
			continue
		}
		fmt.Fprintln(&out, line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, s := range step(line) {
			fmt.Fprintln(&out, indent+s)
		}
	}
	return out.String()
}
