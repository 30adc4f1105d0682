package mpi

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
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

// TestOwnValues: the values that this package shows are those of the packages that work with them.
func TestOwnValues(t *testing.T) {
	for name, v := range map[string][2]any{
		"AnySource":     {AnySource, core.AnySource},
		"AnyTag":        {AnyTag, core.AnyTag},
		"ProcNull":      {ProcNull, core.ProcNull},
		"Undefined":     {Undefined, core.Undefined},
		"TagUB":         {TagUB, core.TagUB},
		"WorldSet":      {WorldSet, core.WorldSet},
		"SelfSet":       {SelfSet, core.SelfSet},
		"Ident":         {int(Ident), int(group.Ident)},
		"Congruent":     {int(Congruent), int(group.Congruent)},
		"Similar":       {int(Similar), int(group.Similar)},
		"Unequal":       {int(Unequal), int(group.Unequal)},
		"CounterLevel":  {int(CounterLevel), int(tool.Level)},
		"CounterSize":   {int(CounterSize), int(tool.Size)},
		"CounterEvents": {int(CounterEvents), int(tool.Counter)},
	} {
		if v[0] != v[1] {
			t.Errorf("%s is %v, want %v", name, v[0], v[1])
		}
	}
}

// TestErrorClasses: the classes have the numbers of package errs, which are those of the ABI.
func TestErrorClasses(t *testing.T) {
	src, err := os.ReadFile("errclass.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\tClass\w+\s+ErrorClass = (\d+)\s+// (MPIX?_\w+)`).FindAllStringSubmatch(string(src), -1)
	if len(rows) < 39 {
		t.Fatalf("found %d classes", len(rows))
	}
	for _, r := range rows {
		n, err := strconv.Atoi(r[1])
		if name := errs.Class(n).Name(); err != nil || name != r[2] {
			t.Errorf("class %d is %s, want %s", n, name, r[2])
		}
	}
}
