package lint

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// sharedErrors mean the same in every layer of messages. Package conduit declares them, the layers above name its
// values.
var sharedErrors = map[string]bool{"ErrRank": true, "ErrPeer": true, "ErrClosed": true, "ErrConfig": true}

// messageLayers are the layers of messages.
var messageLayers = []string{"am", "comm", "conduit", "mpi", "rank"}

// TestOneErrorVocabulary: in the layers of messages a shared error is one value, so that errors.Is finds it through
// them all.
func TestOneErrorVocabulary(t *testing.T) {
	declared, shared := 0, 0
	for _, f := range goFiles(t) {
		if f.isTest() || !anyUnder(f.dir(), messageLayers) {
			continue
		}
		for name, value := range sentinels(f.ast) {
			switch {
			case !sharedErrors[name]:
			case f.dir() == "conduit":
				declared++
			case isErrorsNew(value):
				t.Errorf("%s: %s is a value of its own", f.at(value), name)
			default:
				shared++
			}
		}
	}
	if declared != len(sharedErrors) || shared < 8 {
		t.Errorf("package conduit declares %d of %d, the layers above share %d", declared, len(sharedErrors), shared)
	}
}

// sentinels are the package's variables with a name like that of an error, and what they begin with.
func sentinels(f *ast.File) map[string]ast.Expr {
	found := make(map[string]ast.Expr)
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				if strings.HasPrefix(name.Name, "Err") && i < len(v.Values) {
					found[name.Name] = v.Values[i]
				}
			}
		}
	}
	return found
}

// isErrorsNew tells that e makes a new error.
func isErrorsNew(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := c.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "New"
}
