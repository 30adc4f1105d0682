package lint

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// listed is what go list tells of a package or of one of its variants for tests.
type listed struct {
	ImportPath, Dir, ForTest string
	GoFiles                  []string
	ImportMap                map[string]string // where the path in the source is not the package's
	Module                   *struct{ Main bool }
}

// ours says that the package is of this module, and no variant that only its imports make: its bodies are checked too.
func (l *listed) ours() bool {
	name, _, _ := strings.Cut(l.ImportPath, " ")
	return l.Module != nil && l.Module.Main && (l.ForTest == "" || strings.TrimSuffix(name, "_test") == l.ForTest)
}

// sources parses each file once, for whichever target comes first to it. Nobody changes what it returns.
type sources struct {
	fset  *token.FileSet
	mu    sync.Mutex // guards the rest
	files map[string]func() (*ast.File, error)
}

func (s *sources) parse(path string) (*ast.File, error) {
	s.mu.Lock()
	f, ok := s.files[path]
	if !ok {
		f = sync.OnceValues(func() (*ast.File, error) {
			return parser.ParseFile(s.fset, path, nil, parser.SkipObjectResolution)
		})
		s.files[path] = f
	}
	s.mu.Unlock()
	return f()
}

// checker checks the types of all packages that it is given, each after those that it imports.
type checker struct {
	*sources
	arch   string
	done   map[string]*types.Package
	errors []error
}

// check has the types of a package checked. Of those that are not ours, only what others see of them.
func (c *checker) check(l *listed) {
	config := types.Config{
		Importer: importer{c, l}, Sizes: types.SizesFor("gc", c.arch), IgnoreFuncBodies: !l.ours(),
		Error: func(err error) { c.errors = append(c.errors, err) },
	}
	var all []*ast.File
	for _, name := range l.GoFiles {
		f, err := c.parse(filepath.Join(l.Dir, name))
		if err != nil {
			c.errors = append(c.errors, err)
			continue
		}
		all = append(all, f)
	}
	name, _, _ := strings.Cut(l.ImportPath, " ")
	c.done[l.ImportPath], _ = config.Check(name, c.fset, all, nil)
}

// importer finds what the package l imports.
type importer struct {
	*checker
	l *listed
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if to, ok := i.l.ImportMap[path]; ok {
		path = to
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("go list did not name " + path)
}

// checkTarget checks the packages of the module and their tests for a target, and returns how many there are.
func checkTarget(t *testing.T, all *sources, system, processor string) (c *checker, own int) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,ForTest,GoFiles,ImportMap,Module", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	c = &checker{sources: all, arch: processor, done: map[string]*types.Package{}}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return c, own
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(l.ImportPath, ".test") { // the main function of tests, which go test writes
			continue
		}
		if l.ours() {
			own++
		}
		c.check(&l)
	}
}

// targets are what the gate builds the launcher for.
func targets(t *testing.T) []string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(script), "\ntargets=(")
	list, _, _ = strings.Cut(list, ")")
	if len(strings.Fields(list)) < 3 {
		t.Fatalf("the gate has the targets %q", list)
	}
	return strings.Fields(list)
}

// TestOtherTargets: all packages and their tests are right Go for the systems and processors that the gate compiles
// only the launcher for. As TestTargetsStandForAll has it, these see every file.
func TestOtherTargets(t *testing.T) {
	all := &sources{fset: token.NewFileSet(), files: map[string]func() (*ast.File, error){}}
	for _, target := range targets(t) {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			system, processor, _ := strings.Cut(target, "/")
			c, own := checkTarget(t, all, system, processor)
			for _, err := range c.errors {
				t.Error(err)
			}
			if own < 100 {
				t.Errorf("only %d packages were checked", own)
			}
		})
	}
}
