package pendingtest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Complete fails unless each exported function or method of the package in the working directory that gives an error,
// or one of results, is in rows, or in reasons. These are lists of names by the reason why they are no rows. It fails
// for a name that is no such function, too.
func Complete(t *testing.T, rows []string, reasons map[string]string, results ...string) {
	t.Helper()
	found := fallible(t, append(results, "error"))
	known := make(map[string]bool)
	for _, name := range rows {
		known[name] = true
	}
	for reason, names := range reasons {
		for _, name := range strings.Fields(names) {
			if known[name] {
				t.Errorf("%s is listed twice, once because %s", name, reason)
			}
			known[name] = true
		}
	}
	for _, name := range found {
		if !known[name] {
			t.Errorf("%s has no row, and no reason for that", name)
		}
	}
	for name := range known {
		if !slices.Contains(found, name) {
			t.Errorf("%s is listed, and there is no such function", name)
		}
	}
}

// fallible lists the exported functions and methods that give one of results.
func fallible(t *testing.T, results []string) (names []string) {
	t.Helper()
	pkg := parsed(t)
	gives := func(f *types.Func) bool {
		for v := range f.Signature().Results().Variables() {
			if slices.Contains(results, types.TypeString(v.Type(), types.RelativeTo(pkg))) {
				return true
			}
		}
		return false
	}
	for _, name := range pkg.Scope().Names() {
		switch x := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if x.Exported() && gives(x) {
				names = append(names, name)
			}
		case *types.TypeName:
			named, ok := x.Type().(*types.Named)
			for i := 0; ok && i < named.NumMethods(); i++ {
				if m := named.Method(i); m.Exported() && gives(m) {
					names = append(names, name+"."+m.Name())
				}
			}
		}
	}
	return names
}

// parsed is the package in the working directory. What it imports is not looked at.
func parsed(t *testing.T) *types.Package {
	t.Helper()
	cfg := types.Config{Importer: imports{}, Error: func(error) {}}
	pkg, _ := cfg.Check("", set, sources(t), nil) // the results looked for are of this package, predeclared or only named
	return pkg
}

var set = token.NewFileSet()

// sources are the files of the package in the working directory, but for its tests.
func sources(t *testing.T) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// imports finds no package.
type imports struct{}

func (imports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }
