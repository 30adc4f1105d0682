package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
)

// unwanted is what no file may hold: work that was left undone, and places on somebody's machine. The words are put
// together, so that this file does not hold them itself.
var unwanted = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|/(wo` + `rk|ho` + `me|ro` + `ot|Use` + `rs)/[a-z]`)

func unwantedIn(text []byte) (wrong []string) {
	for i, line := range strings.Split(string(text), "\n") {
		if m := unwanted.FindString(line); m != "" {
			wrong = append(wrong, fmt.Sprintf("%d: %q", i+1, m))
		}
	}
	return wrong
}

func TestNothingUndone(t *testing.T) {
	for _, f := range files(t) {
		for _, wrong := range unwantedIn(f.text) {
			t.Errorf("%s:%s", f.name, wrong)
		}
	}
	if got := unwantedIn([]byte("// TO" + "DO: more\nok\ncd /ho" + "me/me\n")); len(got) != 2 {
		t.Errorf("found %q, want two", got)
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

// TestLinksLead: a link of a page to another file of the project finds it.
func TestLinksLead(t *testing.T) {
	n := 0
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, ".md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(f.text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			n++
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(f.name), m[1])); err != nil {
				t.Errorf("%s: %v", f.name, err)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d links were found", n)
	}
}

var variable = regexp.MustCompile(`\bGOLCI_[A-Z0-9_]+\b`)

// TestSettingsAreDocumented: the tables in docs/settings.md have every setting, with its default, and no page names
// one that does not exist.
func TestSettingsAreDocumented(t *testing.T) {
	set, err := settings.Parse(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]string)
	for _, i := range set.List() {
		known[i.Env] = i.Default
	}
	rows := 0
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, ".md") {
			continue
		}
		for _, name := range variable.FindAllString(string(f.text), -1) {
			if _, ok := known[name]; !ok && !slices.Contains(settings.Places, name) {
				t.Errorf("%s: there is no setting %s", f.name, name)
			}
		}
		if f.name != "docs/settings.md" {
			continue
		}
		for name, def := range known {
			if row := fmt.Sprintf("| `%s` | `%s` |", name, def); strings.Contains(string(f.text), row) {
				rows++
			} else {
				t.Errorf("%s: want a line that begins with %s", f.name, row)
			}
		}
	}
	if rows == 0 {
		t.Error("docs/settings.md was not found")
	}
}

// TestReadmeProgram: the program that README shows is the one in examples.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	hello, err := os.ReadFile(filepath.Join(root, "examples/hello/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```go\n")
	program, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed || !strings.Contains(string(hello), program) {
		t.Error("the first program in README.md is not examples/hello/main.go")
	}
}
