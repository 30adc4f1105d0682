package pendingtest

import (
	"go/ast"
	"strings"
	"testing"
)

// Says fails unless the comment of the exported function or method with that name, of the package in the working
// directory, has the words of reason. Case and line ends do not matter.
func Says(t *testing.T, name, reason string) {
	t.Helper()
	for _, f := range sources(t) {
		for _, d := range f.Decls {
			if x, ok := d.(*ast.FuncDecl); ok && nameOf(x) == name {
				if !strings.Contains(plain(x.Doc.Text()), plain(reason)) {
					t.Errorf("the comment of %s does not say: %s", name, reason)
				}
				return
			}
		}
	}
	t.Errorf("there is no function %s", name)
}

// plain is a text without differences that do not matter.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// nameOf is the name of a function, or of a method with its type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	typ := f.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	switch x := typ.(type) {
	case *ast.IndexExpr:
		typ = x.X
	case *ast.IndexListExpr:
		typ = x.X
	}
	id, _ := typ.(*ast.Ident)
	return id.Name + "." + f.Name.Name
}
