package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// silentSkips lists the tests that are skipped without a reason.
func silentSkips(f goFile) (wrong []string) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		_, name, ok := selector(c.Fun)
		if ok && (name == "SkipNow" || name == "Skip" || name == "Skipf") && len(c.Args) == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s without a reason", f.at(n), name))
		}
		return true
	})
	return wrong
}

func TestSkipsGiveAReason(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.isTest() {
			continue
		}
		for _, wrong := range silentSkips(f) {
			t.Error(wrong)
		}
	}
	// No test is left out here: this source is what the rule must find fault with twice, and accept once, where there
	// is a reason.
	const call = "Skip"
	source := "package p\nfunc f(t *testing.T) { t." + call + "(); t." + call + "Now(); t." + call + "(\"no network\") }\n"
	f, err := parse("p_test.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if got := silentSkips(f); len(got) != 2 {
		t.Errorf("found %q, want two", got)
	}
}

// checksLeaks reports whether f has a TestMain that looks for goroutines left behind.
func checksLeaks(f goFile) bool {
	found := false
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "TestMain" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			p, name, ok := selector(n)
			found = found || ok && p == "goleak" && name == "VerifyTestMain"
			return true
		})
	}
	return found
}

// TestGoleakEverywhere: a test package that leaves a goroutine behind fails.
func TestGoleakEverywhere(t *testing.T) {
	checked := make(map[string]bool)
	for _, f := range goFiles(t) {
		if f.isTest() {
			checked[f.dir()] = checked[f.dir()] || checksLeaks(f)
		}
	}
	for dir, ok := range checked {
		if !ok {
			t.Errorf("%s: no TestMain calls goleak.VerifyTestMain", dir)
		}
	}
	f, err := parse("p_test.go", []byte("package p\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if checksLeaks(f) {
		t.Error("a TestMain without goleak passes")
	}
}

// maxLines of a file. Most are much shorter; one that comes near holds more than one idea.
const maxLines = 600

func TestFilesAreSmall(t *testing.T) {
	for _, f := range files(t) {
		source := strings.HasSuffix(f.name, ".go") || strings.HasSuffix(f.name, ".s") || strings.HasSuffix(f.name, ".c")
		if n := bytes.Count(f.text, []byte("\n")); source && n > maxLines {
			t.Errorf("%s has %d lines, the most is %d", f.name, n, maxLines)
		}
	}
}
