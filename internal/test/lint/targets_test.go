package lint

import (
	"fmt"
	"go/build/constraint"
	"path"
	"strings"
	"testing"
)

var (
	systems    = []string{"darwin", "windows"}
	processors = []string{"amd64", "arm64"}
)

// TestTargetsStandForAll: a file may be for one system or for one processor, but for a pair of them only on Linux. So
// the gate's targets, which have each system and each processor once, see every file.
func TestTargetsStandForAll(t *testing.T) {
	constrained := 0
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, ".go") {
			continue
		}
		expr := constraintOf(f.text)
		if expr != "" {
			constrained++
		}
		if why := pairOnly(f.name, expr); why != "" {
			t.Errorf("%s: %s", f.name, why)
		}
	}
	if constrained < 10 {
		t.Errorf("only %d files have a constraint", constrained)
	}
	for _, name := range []string{"a/b_darwin_arm64.go", "c_windows_amd64_test.go"} {
		if pairOnly(name, "") == "" {
			t.Errorf("%s was not found", name)
		}
	}
	if pairOnly("a.go", "windows && amd64") == "" || pairOnly("a_linux_amd64.go", "") != "" || pairOnly("a.go", "darwin || amd64") != "" {
		t.Error("constraints are not understood")
	}
}

// constraintOf is the expression of a file's //go:build line, or empty.
func constraintOf(text []byte) string {
	head, _, _ := strings.Cut(string(text), "\npackage ")
	for line := range strings.Lines(head) {
		if expr, ok := strings.CutPrefix(line, "//go:build "); ok {
			return strings.TrimSpace(expr)
		}
	}
	return ""
}

// pairOnly tells why a file is in builds for one system other than Linux on one processor only, or is empty.
func pairOnly(name, expr string) string {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test"), "_")
	in := func(system, processor string) bool {
		for _, p := range parts[1:] {
			if isTarget(p) && p != system && p != processor {
				return false
			}
		}
		e, err := constraint.Parse("//go:build " + expr)
		return err != nil || e.Eval(func(tag string) bool {
			return tag == system || tag == processor || !isTarget(tag) && tag != "ignore"
		})
	}
	for _, s := range systems {
		if in(s, "amd64") != in(s, "arm64") && in("linux", "amd64") == in("linux", "arm64") {
			return fmt.Sprintf("it is for %s on one processor only", s)
		}
	}
	return ""
}

func isTarget(tag string) bool {
	for _, list := range [][]string{systems, processors, {"linux", "unix"}} {
		for _, t := range list {
			if t == tag {
				return true
			}
		}
	}
	return false
}
