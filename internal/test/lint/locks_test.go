package lint

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// lockTypes are the types of locks, as they are written in a declaration.
var lockTypes = map[string]bool{
	"sync.Mutex": true, "sync.RWMutex": true, "spin.Lock": true, "spin.Biased": true,
	"mutex": true, "pollMutex": true, // of package udp
}

// lockFree are directories whose locks no rank takes: programs, benchmarks and what only tests use.
var lockFree = []string{
	"bench", "cmd", "examples", "internal/test", "internal/transport/badnet",
}

// locksOf are the locks that f declares, as package.Type.field or package.variable.
func locksOf(f goFile) (found []string) {
	pkg := path.Base(f.dir())
	note := func(prefix string, names []*ast.Ident, typ ast.Expr) {
		if !isLock(typ) {
			return
		}
		for _, n := range names {
			found = append(found, prefix+n.Name)
		}
	}
	fields := func(name string, typ ast.Expr) {
		if s, ok := typ.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				note(pkg+"."+name+".", f.Names, f.Type)
			}
		}
	}
	for _, d := range f.ast.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				fields(s.Name.Name, s.Type)
			case *ast.ValueSpec:
				note(pkg+".", s.Names, s.Type)
				fields(s.Names[0].Name, s.Type)
			}
		}
	}
	return found
}

func isLock(typ ast.Expr) bool {
	if id, ok := typ.(*ast.Ident); ok {
		return lockTypes[id.Name]
	}
	pkg, name, ok := selector(typ)
	return ok && lockTypes[pkg+"."+name]
}

// lockName is a lock as the page names it.
var lockName = regexp.MustCompile("`(\\w+\\.[\\w.]+)`")

// listedLocks are the locks in the tables of the page's section on locks.
func listedLocks(page string) map[string]bool {
	_, page, _ = strings.Cut(page, "\n## Locks")
	page, _, _ = strings.Cut(page, "\n## ")
	found := make(map[string]bool)
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range lockName.FindAllStringSubmatch(cells[1]+cells[2], -1) {
			found[m[1]] = true
		}
	}
	return found
}

// TestLocksAreListed: the section on locks in docs/ARCHITECTURE.md names every lock that a rank takes, and no other.
func TestLocksAreListed(t *testing.T) {
	var listed map[string]bool
	for _, f := range files(t) {
		if f.name == "docs/ARCHITECTURE.md" {
			listed = listedLocks(string(f.text))
		}
	}
	there := make(map[string]bool)
	for _, f := range goFiles(t) {
		if f.isTest() || anyUnder(f.dir(), lockFree) {
			continue
		}
		for _, name := range locksOf(f) {
			there[name] = true
			if !listed[name] {
				t.Errorf("%s: docs/ARCHITECTURE.md does not list `%s`", f.name, name)
			}
		}
	}
	for name := range listed {
		if !there[name] {
			t.Errorf("docs/ARCHITECTURE.md lists `%s`, which is not there", name)
		}
	}
	if len(there) < 30 {
		t.Errorf("only %d locks were found", len(there))
	}
}

// TestLocksOf: locks are found in structs and variables of each form.
func TestLocksOf(t *testing.T) {
	f, err := parse("a/b/c.go", []byte(`package b
type x struct { mu, other sync.Mutex; n int; far spin.Lock }
var alone sync.RWMutex
var group struct { mu mutex }
var n int
func f() { var local sync.Mutex }`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(locksOf(f), " "), "b.x.mu b.x.other b.x.far b.alone b.group.mu"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	page := "\n## Locks, in order\n| `b.x.mu`, `b.alone` | `b.x.far` |\n\n## Next\n| `b.no` | |"
	if got := listedLocks(page); len(got) != 3 || !got["b.x.mu"] || !got["b.alone"] || !got["b.x.far"] {
		t.Errorf("listed are %v", got)
	}
}
