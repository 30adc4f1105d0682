package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const module = "github.com/golci/golci"

// root is the module's directory, seen from this one.
const root = "../../.."

// file is one file of the module; name is relative to its root, with slashes.
type file struct {
	name string
	text []byte
}

// files reads all files of the module, without what git keeps and what is not text.
func files(t *testing.T) (all []file) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git": // a file in a linked working tree
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // a test of another package may have put it there for a moment
			return nil
		}
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		name, err := filepath.Rel(root, path)
		all = append(all, file{filepath.ToSlash(name), text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

// goFile is a parsed Go file.
type goFile struct {
	name string
	ast  *ast.File
	fset *token.FileSet
}

func parse(name string, text []byte) (goFile, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	return goFile{name, f, fset}, err
}

func (f goFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// dir is the file's directory relative to the module, empty for the root.
func (f goFile) dir() string {
	if i := strings.LastIndexByte(f.name, '/'); i >= 0 {
		return f.name[:i]
	}
	return ""
}

// at is where n is, for messages.
func (f goFile) at(n ast.Node) string { return f.fset.Position(n.Pos()).String() }

// goFiles parses the module's Go files.
func goFiles(t *testing.T) (all []goFile) {
	t.Helper()
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, ".go") {
			continue
		}
		g, err := parse(f.name, f.text)
		if err != nil {
			t.Error(err)
			continue
		}
		all = append(all, g)
	}
	return all
}

// selector splits an expression such as time.Now.
func selector(n ast.Node) (pkg, name string, ok bool) {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	return x.Name, s.Sel.Name, true
}

// pkg is a package as go list describes it.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// packages lists the module's packages as they are built for goos.
func packages(t *testing.T, goos string) (all []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", goos, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
