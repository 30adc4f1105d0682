package lint

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// mpiName is a name of package mpi, or a method of one of its types, as pages write them.
var mpiName = regexp.MustCompile("\\bmpi\\.([A-Z]\\w*)|`((?:Comm|Message|Proc|Request|Status)\\.[A-Z]\\w*)")

// TestPagesNameWhatExists: every function, type and method of package mpi that a page names is there.
func TestPagesNameWhatExists(t *testing.T) {
	known := exported(goFiles(t), "mpi")
	n := 0
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, ".md") {
			continue
		}
		for _, name := range namesIn(f.text) {
			n++
			if !known[name] {
				t.Errorf("%s: package mpi has no %s", f.name, name)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d names were found", n)
	}
	if got := namesIn([]byte("`mpi.Nope`, `Comm.Never(1)`")); len(got) != 2 || known[got[0]] || known[got[1]] {
		t.Errorf("found %q, want two names that do not exist", got)
	}
}

func namesIn(text []byte) (names []string) {
	for _, m := range mpiName.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1])+string(m[2]))
	}
	return names
}

// exported gives the exported names of the package in dir: functions, types, values, and methods and fields as
// Type.Name.
func exported(all []goFile, dir string) map[string]bool {
	known := make(map[string]bool)
	for _, f := range all {
		if f.dir() != dir || f.isTest() {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				known[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					noteSpec(known, s)
				}
			}
		}
	}
	return known
}

func noteSpec(known map[string]bool, s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			known[name.Name] = true
		}
	case *ast.TypeSpec:
		known[s.Name.Name] = true
		if st, ok := s.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				for _, name := range field.Names {
					known[s.Name.Name+"."+name.Name] = true
				}
			}
		}
	}
}

// receiver is the type that a method belongs to, with a dot; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if x, ok := typ.(*ast.IndexExpr); ok {
		typ = x.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}
