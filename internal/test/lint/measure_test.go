package lint

import (
	"go/ast"
	"strings"
	"testing"
	"unicode"
)

// How many of the product's functions have names that search finds badly. A count of that kind gave 31 and 2 in a
// hundred for quic-go and 33 and 0 for raft of etcd. It gave 51 and 3 for Go's runtime, and 4 of the second for
// net/http.
//
// These limits only go down.
const (
	mostOneWord = 0.43 // names of one word
	mostShared  = 0.02 // unexported names of methods that five or more types have
	manyTypes   = 5
)

// names are counts of functions.
type names struct {
	all     int
	oneWord int
	types   map[string]map[string]bool // the types that have an unexported method of that name
	methods map[string]int
}

// countNames counts the functions that files declare.
func countNames(all []goFile) names {
	n := names{types: make(map[string]map[string]bool), methods: make(map[string]int)}
	for _, f := range all {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name == "init" || fn.Name.Name == "main" {
				continue
			}
			n.all++
			name := fn.Name.Name
			if strings.IndexFunc(name[1:], unicode.IsUpper) < 0 {
				n.oneWord++
			}
			if of := receiver(fn); of != "" && !fn.Name.IsExported() {
				if n.types[name] == nil {
					n.types[name] = make(map[string]bool)
				}
				n.types[name][f.dir()+" "+of] = true
				n.methods[name]++
			}
		}
	}
	return n
}

// shared is how many functions have an unexported name that many types have.
func (n *names) shared() (sum int) {
	for name, types := range n.types {
		if len(types) >= manyTypes {
			sum += n.methods[name]
		}
	}
	return sum
}

// product tells that a file is neither test nor benchmark nor example, nor generated.
func product(f goFile) bool {
	for _, dir := range []string{"bench", "examples", "internal/test", "mpi/internal/mpitest"} {
		if under(f.dir(), dir) {
			return false
		}
	}
	return !f.isTest() && !ast.IsGenerated(f.ast)
}

// TestNameMeasures holds the two measures to their limits.
func TestNameMeasures(t *testing.T) {
	var all []goFile
	for _, f := range goFiles(t) {
		if product(f) {
			all = append(all, f)
		}
	}
	n := countNames(all)
	oneWord, shared := float64(n.oneWord)/float64(n.all), float64(n.shared())/float64(n.all)
	t.Logf("%d functions: %.3f have names of one word, %.3f share the name of a method with %d types",
		n.all, oneWord, shared, manyTypes)
	if oneWord > mostOneWord || shared > mostShared {
		t.Errorf("of %d functions %.3f have names of one word, at most %.2f may; %.3f share the name of a method with %d "+
			"types or more, at most %.2f may", n.all, oneWord, mostOneWord, shared, manyTypes, mostShared)
	}
}

// TestCountNames counts names of a file.
func TestCountNames(t *testing.T) {
	text := "package p\nfunc one() {}\nfunc twoWords() {}\nfunc (a A) take() {}\nfunc (a B) take() {}\n" +
		"func (a *C) take() {}\nfunc (a D) take() {}\nfunc (a E) Take() {}\nfunc main() {}\n"
	f, err := parse("p/p.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	n := countNames([]goFile{f})
	if n.all != 7 || n.oneWord != 6 || n.shared() != 0 {
		t.Errorf("%d functions, %d of one word, %d shared", n.all, n.oneWord, n.shared())
	}
	g, err := parse("q/q.go", []byte("package q\nfunc (a *A) take() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	n = countNames([]goFile{f, g})
	if n.shared() != 5 {
		t.Errorf("%d shared, want 5", n.shared())
	}
}
