package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStepsOfTheGate: the table of steps in CONTRIBUTING.md has those of .ci/run, in their order.
func TestStepsOfTheGate(t *testing.T) {
	script, page := text(t, ".ci/run"), text(t, "CONTRIBUTING.md")
	list := regexp.MustCompile(`(?m)^all=\(([^)]*)\)`).FindStringSubmatch(script)
	if list == nil {
		t.Fatal(".ci/run has no list of all steps")
	}
	_, table, found := strings.Cut(page, "| Step | What it does |\n|---|---|\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no table of steps")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for row := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, name := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(names, -1) {
			told = append(told, name[1])
		}
	}
	if steps := strings.Fields(list[1]); !slices.Equal(told, steps) {
		t.Errorf("the table has\n%v, .ci/run has\n%v", told, steps)
	}
	for _, name := range strings.Fields(list[1]) {
		if !strings.Contains(script, "\nstep_"+name+"() ") {
			t.Errorf(".ci/run has no function for step %s", name)
		}
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
