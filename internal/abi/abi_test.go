package abi

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T) *Table {
	t.Helper()
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestNumbers: how many there are of everything that the standard lists.
func TestNumbers(t *testing.T) {
	table := load(t)
	functions, large, constants := 0, 0, 0
	for i := range table.Functions {
		functions += len(table.Functions[i].Forms())
		if table.Functions[i].Large() {
			large++
		}
	}
	for _, s := range table.Sections {
		constants += len(s.Constants)
	}
	if functions != 662 || large != 159 || constants != 364 || len(table.Callbacks) != 21 {
		t.Errorf("%d functions, %d of them for large counts, %d constants, %d callbacks",
			functions, large, constants, len(table.Callbacks))
	}
}

// TestForms: forms that the attributes of a line ask for have the arguments and attributes that they should.
func TestForms(t *testing.T) {
	table := load(t)
	for _, c := range []struct {
		name, params, large string
		local, collective   bool
	}{
		{
			"Send", "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm",
			"const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm", false, false,
		},
		{"Ibarrier", "MPI_Comm comm, MPI_Request *request", "", true, true},
		{"Barrier_init", "MPI_Comm comm, MPI_Info info, MPI_Request *request", "", false, true},
		{"Barrier", "MPI_Comm comm", "", false, true},
		{"Send_init", "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, " +
			"MPI_Request *request", "const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, " +
			"MPI_Comm comm, MPI_Request *request", true, false},
		{"Type_get_envelope", "MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, " +
			"int *combiner", "MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, " +
			"MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner", true, false},
		{
			"Op_create", "MPI_User_function *user_fn, int commute, MPI_Op *op",
			"MPI_User_function_c *user_fn, int commute, MPI_Op *op", true, false,
		},
		{"Pcontrol", "int level, ...", "", false, false},
		{"Group_range_incl", "MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup", "", true, false},
		{"Finalize", "void", "", false, true},
	} {
		i := slices.IndexFunc(table.Functions, func(f Function) bool { return f.Name == c.name })
		if i < 0 {
			t.Errorf("there is no %s", c.name)
			continue
		}
		f := &table.Functions[i]
		if got := f.Params(false); got != c.params {
			t.Errorf("%s(%s), want (%s)", c.name, got, c.params)
		}
		if got := f.Params(true); f.Large() && got != c.large || !f.Large() && c.large != "" {
			t.Errorf("%s_c(%s), want (%s)", c.name, got, c.large)
		}
		if f.Local != c.local || f.Collective != c.collective {
			t.Errorf("%s: local %t, collective %t", c.name, f.Local, f.Collective)
		}
	}
}

// TestWide: which arguments only the caller's side of the form for large counts makes wider.
func TestWide(t *testing.T) {
	for word, want := range map[string]bool{
		"count": true, "size:bytes": true, "lb:span": true, "disp_unit:unit": true, "*count": false, "n:count[]": false,
		"+count": false, "f:User_function": false, "comm": false, "size:aint": false,
	} {
		a, err := parseArg(word)
		if err != nil || a.Wide() != want {
			t.Errorf("argument %q: wide is %t, want %t (%v)", word, a.Wide(), want, err)
		}
	}
}

// TestBadTables: what does not follow the rules of the texts is an error.
func TestBadTables(t *testing.T) {
	for _, text := range []string{
		"[unclosed\n", "[]\n", "[f]\nSend buf:nothing\n", "[f]\n| local\n", "[f]\nSend comm | sometimes\n",
		"[f]\nSend -> nothing\n", "[f]\nSend in[]\n", "[f]\nSend f:*User_function\n",
	} {
		if got, err := parseFunctions(text); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
	for _, text := range []string{
		"A=1\n", "[shape X]\n", "[enum x]\nA\n", "[enum x]\nA=\n", "[enum x]\nA=1 A=2\n", "[enum x]\nA=B\n",
	} {
		if got, err := parseConstants(text); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
	twice, err := parseFunctions("[f]\nSend comm\nSend_c comm\nSend count\n")
	if err != nil || twice.checkTable() == nil {
		t.Error("a function may be there twice")
	}
	unknown, err := parseFunctions("[f]\nSend f:Some_function\n")
	if err != nil || unknown.checkTable() == nil {
		t.Error("a callback may be undefined")
	}
}

// TestHeader: mpi.h is what the generator writes, and says what the table says.
func TestHeader(t *testing.T) {
	table := load(t)
	text, err := os.ReadFile("mpi.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(table.Header()) {
		t.Error("mpi.h is not what go run ./mpi/internal/abigen writes")
	}
	for i, line := range strings.Split(string(text), "\n") {
		if len(line) > 120 || strings.HasSuffix(line, " ") {
			t.Errorf("line %d is too long, or ends with a space: %q", i+1, line)
		}
	}
	h, err := readHeader(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(h.functions); got != 2*662 {
		t.Errorf("the header has %d prototypes", got)
	}
	if got, want := h.constants["MPI_LONG_LONG_INT"], "MPI_Datatype 523"; got != want {
		t.Errorf("MPI_LONG_LONG_INT is %q, want %q", got, want)
	}
	if got, want := h.functions["PMPI_Wait"], "int (MPI_Request* request, MPI_Status* status)"; got != want {
		t.Errorf("PMPI_Wait is %q, want %q", got, want)
	}
}

// TestHeaderCompiles: C and C++ compilers take it without a warning.
func TestHeaderCompiles(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	for _, args := range [][]string{{"-x", "c", "-std=c99"}, {"-x", "c++"}} {
		args = append(args, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I.", "-")
		cmd := exec.Command(gcc, args...)
		cmd.Stdin = strings.NewReader(`#include <mpi.h>
#include <mpi.h>
typedef char status_size[sizeof(MPI_Status) == 32 ? 1 : -1];
#if MPI_VERSION != 5 || MPI_ABI_VERSION != 1
#error version
#endif
int main(void) { return sizeof(status_size) == 1 ? MPI_SUCCESS : MPI_ERR_OTHER; }
`)
		if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "cc1plus") {
			t.Errorf("gcc %v: %v\n%s", args, err, out)
		}
	}
}

// foreignHeader is the header of the ABI in a checkout of MPICH, or in a git directory of it, that MPICH_TESTS names.
func foreignHeader(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MPICH_TESTS")
	if dir == "" {
		t.Skip("MPICH_TESTS does not name a checkout of MPICH")
	}
	const path = "src/binding/abi/mpi_abi.h"
	if text, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
		return string(text)
	}
	text, err := exec.Command("git", "--git-dir", dir, "show", "HEAD:"+path).Output()
	if err != nil {
		t.Skipf("MPICH_TESTS has no %s: %v", path, err)
	}
	return string(text)
}

// TestAsMPICH: MPICH's header of the ABI has the same functions, constants and types. Extensions of either
// begin with MPIX_.
func TestAsMPICH(t *testing.T) {
	// A parameter of one type has a name there that nobody means.
	text := strings.Replace(foreignHeader(t), "(MPI_Comm omm,", "(MPI_Comm comm,", 1)
	theirs, err := readHeader(text)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := readHeader(string(load(t).Header()))
	if err != nil {
		t.Fatal(err)
	}
	n := compare(t, "function", ours.functions, theirs.functions)
	n += compare(t, "constant", ours.constants, theirs.constants)
	n += compare(t, "type", ours.types, theirs.types)
	if n < 2*662+364+35 {
		t.Errorf("only %d things were compared", n)
	}
}

func compare(t *testing.T, what string, ours, theirs map[string]string) (n int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if strings.HasPrefix(name, "MPIX_") {
			continue
		}
		n++
		if got, ok := ours[name]; !ok || got != theirs[name] {
			t.Errorf("%s %s is %q, and %q in MPICH's header", what, name, got, theirs[name])
		}
	}
	for name := range ours {
		if _, ok := theirs[name]; !ok && !strings.HasPrefix(name, "MPIX_") {
			t.Errorf("%s %s is not in MPICH's header", what, name)
		}
	}
	return n
}
