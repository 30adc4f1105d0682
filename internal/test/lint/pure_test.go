package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"testing"
)

// pure lists the packages that do no input or output, start nothing, and are given time and randomness.
var pure = []string{
	"cmd/golci/internal/alloc", "comm/internal/opstate", "comm/internal/match",
	"internal/abi", "internal/job/boot/gather", "internal/job/boot/pmi", "internal/job/nodelist", "internal/observe/tool",
	"internal/platform/runs", "internal/schedule", "internal/transport/badnet", "internal/transport/credit",
	"internal/transport/reliable",
	"internal/transport/selection", "internal/transport/udp/deathnotice", "mpi/internal/agree", "mpi/internal/attr",
	"mpi/internal/coll/algorithm",
	"mpi/internal/dtype", "mpi/internal/epoch", "mpi/internal/errs", "mpi/internal/fileview", "mpi/internal/group",
	"mpi/internal/info", "mpi/internal/groupmsg", "mpi/internal/op", "mpi/internal/reqkind", "mpi/internal/topo",
	"realm/internal/barrier", "realm/internal/event", "realm/internal/reduce", "realm/internal/reservation",
	"realm/internal/space",
}

// impureImports lead out of the process or into its scheduling.
var impureImports = []string{"net", "os", "os/exec", "os/signal", "math/rand", "math/rand/v2", "crypto/rand", "sync", "syscall", "golang.org/x/sys/unix"}

// clock lists what of package time reads the clock or waits; types and units may be used.
var clock = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// impurities lists what a pure package may not have.
func impurities(f goFile) (wrong []string) {
	for _, i := range f.ast.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if slices.Contains(impureImports, path) {
			wrong = append(wrong, fmt.Sprintf("%s: imports %s", f.at(i), path))
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			wrong = append(wrong, fmt.Sprintf("%s: starts a goroutine", f.at(g)))
		}
		if p, name, ok := selector(n); ok && p == "time" && slices.Contains(clock, name) {
			wrong = append(wrong, fmt.Sprintf("%s: calls time.%s", f.at(n), name))
		}
		return true
	})
	return wrong
}

func TestPurePackages(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range goFiles(t) {
		if f.isTest() || !slices.Contains(pure, f.dir()) {
			continue
		}
		seen[f.dir()] = true
		for _, wrong := range impurities(f) {
			t.Error(wrong)
		}
	}
	for _, dir := range pure {
		if !seen[dir] {
			t.Errorf("there is no package %s", dir)
		}
	}
}

// TestImpurities has the rule find each of them once.
func TestImpurities(t *testing.T) {
	const text = `package p
import ("os"; "time")
var d = 2 * time.Second
func f() { go f(); time.Sleep(d); _ = os.Args }
`
	f, err := parse("p.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := impurities(f); len(got) != 3 {
		t.Errorf("found %q, want the import, the goroutine and the sleep", got)
	}
}

// looseAtomics lists the uses of sync/atomic's functions on plain variables: a typed atomic cannot be read without.
func looseAtomics(f goFile) (wrong []string) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if p, name, ok := selector(c.Fun); ok && p == "atomic" {
			wrong = append(wrong, fmt.Sprintf("%s: atomic.%s; use a typed atomic", f.at(n), name))
		}
		return true
	})
	return wrong
}

func TestTypedAtomics(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, wrong := range looseAtomics(f) {
			t.Error(wrong)
		}
	}
	f, err := parse("p.go", []byte("package p\nfunc f(x *uint32, y *atomic.Uint32) { atomic.AddUint32(x, 1); y.Add(1) }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := looseAtomics(f); len(got) != 1 {
		t.Errorf("found %q, want the one on a plain variable", got)
	}
}
