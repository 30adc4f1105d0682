package mpi

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"
)

// TestConstants: the special values are those of mpi.h of the standard ABI.
func TestConstants(t *testing.T) {
	for name, v := range map[string][2]int{
		"MPI_ANY_SOURCE": {AnySource, -1},
		"MPI_ANY_TAG":    {AnyTag, -2},
		"MPI_PROC_NULL":  {ProcNull, -3},
		"MPI_ROOT":       {Root, -4},
		"MPI_UNDEFINED":  {Undefined, -32766},
	} {
		if v[0] != v[1] {
			t.Errorf("%s is %d, want %d", name, v[0], v[1])
		}
	}
}

// TestErrorClasses: every exported error of the package has exactly one class, and Class finds it.
func TestErrorClasses(t *testing.T) {
	src, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("errclass.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^\t(Err\w+)\s+=`).FindAllStringSubmatch(string(src), -1)
	if len(names) < 20 {
		t.Fatalf("found %d errors", len(names))
	}
	for _, n := range names {
		if k := len(regexp.MustCompile(`\{`+n[1]+`, Class\w+\}`).FindAllString(string(table), -1)); k != 1 {
			t.Errorf("%s has %d classes", n[1], k)
		}
	}
	if len(names) != len(errorClasses) {
		t.Errorf("%d errors, %d classes", len(names), len(errorClasses))
	}
	for _, e := range errorClasses {
		if got := Class(fmt.Errorf("mpi: Send: %w", e.err)); got != e.class {
			t.Errorf("%v: class %d, want %d", e.err, got, e.class)
		}
	}
	if Class(nil) != ClassSuccess || Class(io.EOF) != ClassUnknown {
		t.Error("nil, or an error of another package")
	}
	if got := Class(&CollectiveError{Err: ErrRoot}); got != ClassRoot {
		t.Errorf("a collective that ended with ErrRoot: class %d", got)
	}
}
