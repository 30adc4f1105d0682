package lint

import (
	"go/ast"
	"slices"
	"testing"
)

// processWide lists what changes the whole process, and the packages that may do it beside programs: those do it only
// if the program's start asks them to.
var processWide = map[string][]string{
	"os.Exit":              {"rank/internal/report", "mpi", "realm"}, // the last two hand it down
	"signal.Notify":        {"rank/internal/report"},
	"signal.NotifyContext": nil,
	"signal.Ignore":        nil,
	"runtime.GOMAXPROCS":   {"rank/internal/cores"},
}

// processEffects lists the uses of what changes the process in f.
func processEffects(f goFile) (found []string) {
	asks := make(map[ast.Node]bool) // runtime.GOMAXPROCS(0)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 1 {
			v, ok := c.Args[0].(*ast.BasicLit)
			asks[c.Fun] = ok && v.Value == "0"
		}
		p, name, ok := selector(n)
		what := p + "." + name
		if _, wide := processWide[what]; ok && wide && (what != "runtime.GOMAXPROCS" || !asks[n]) {
			found = append(found, what)
		}
		return true
	})
	return found
}

// TestLibrariesLeaveTheProcessAlone: no package but those of programs ends the process, takes its signals, or sets how
// many processors it uses, unless it is listed.
func TestLibrariesLeaveTheProcessAlone(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range goFiles(t) {
		programs := []string{"bench", "cmd", "examples"}
		if f.isTest() || f.ast.Name.Name == "main" || anyUnder(f.dir(), programs) {
			continue
		}
		for _, what := range processEffects(f) {
			used[what+" "+f.dir()] = true
			if !slices.Contains(processWide[what], f.dir()) {
				t.Errorf("%s uses %s", f.name, what)
			}
		}
	}
	for what, dirs := range processWide {
		for _, dir := range dirs {
			if !used[what+" "+dir] {
				t.Errorf("%s may use %s, and does not", dir, what)
			}
		}
	}
}

// TestProcessEffects has the rule find each kind.
func TestProcessEffects(t *testing.T) {
	const text = `package p
func f() { os.Exit(0); g(os.Exit); signal.Notify(c); runtime.GOMAXPROCS(2); _ = runtime.GOMAXPROCS(0) }`
	f, err := parse("p.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := processEffects(f)
	want := []string{"os.Exit", "os.Exit", "signal.Notify", "runtime.GOMAXPROCS"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
