package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/golci/golci/internal/abi"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGenerated: the files are what the generator writes today.
func TestGenerated(t *testing.T) {
	const root = "../../.."
	all, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		old, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !bytes.Equal(old, text) {
			t.Errorf("%s is not what go run ./mpi/internal/abigen writes (%v)", name, err)
		}
	}
	if len(all) != 8 {
		t.Errorf("there are %d files", len(all))
	}
}

// TestShim: which body a function gets.
func TestShim(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	have, err := bodies([]byte("ABI(int, Wait, (x))\nABI(int, Bcast_c, (\n  ABI(int, Test, (x))\n"),
		[]byte("ABI(double, Wtime, (void))\nABI(int, Get_count_c, (x))\nABI(int, Type_get_envelope_c, (x))\n"+
			"ABI_FAST(int, Op_create_c, (x), (x))\n"))
	if err != nil || len(have) != 6 {
		t.Fatalf("found the bodies %v: %v", have, err)
	}
	front := calls(table, []byte("ABI_BODY(int, Comm_split, (x))\nABI(int, Wait, (x))\n"))
	if !bytes.Contains(front, []byte(`left(class, "Comm_split",
        "ccomm icolor ikey pnewcomm",`)) || bytes.Contains(front, []byte("MPI_Wait")) {
		t.Errorf("the functions before bodies are\n%s", front)
	}
	text, err := shim(table, have)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]bool{
		"ABI(int, Wait, ": false, "ABI(int, Bcast_c, ": false, "ABI(double, Wtime, ": false,
		"MPI_Comm comm))\n{ return PMPI_Bcast_c(buffer, count, datatype, root, comm); }\n": true,
		"ABI(int, Test, (MPI_Request *request, int *flag, MPI_Status *status))\n" +
			"{ return left(unsupported(), \"Test\", NULL, NULL); }\n": true,
		"ABI(int, Comm_toint, (MPI_Comm comm))\n{ return (int)(intptr_t)comm; }\n":   true,
		"ABI(MPI_Win, Win_fromint, (int win))\n{ return (MPI_Win)(intptr_t)win; }\n": true,
		"PMPI_Get_count_c": false, "PMPI_Type_get_envelope_c": false, "PMPI_Op_create_c": false,
	} {
		if bytes.Contains(text, []byte(body)) != want {
			t.Errorf("the text has %q: %t, want %t", body, !want, want)
		}
	}
	if _, err := shim(table, map[string]bool{"Wait_c": true}); err == nil {
		t.Error("a body may have a name that MPI does not have")
	}
	if _, err := bodies([]byte("ABI(int, Wait, ("), []byte("ABI(int, Wait, (")); err == nil {
		t.Error("a function may have two bodies")
	}
}

// TestTexts: each class of the interface for tools has a text, and each text is of one.
func TestTexts(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	text := errorTexts(table)
	if n := bytes.Count(text, []byte("[MPI_")); n != 63+18 || len(toolTexts) != 18 {
		t.Errorf("there are %d texts, %d of them for the interface for tools", n, len(toolTexts))
	}
	for name := range toolTexts {
		if c, ok := table.Constant(name); !ok || c.Value < 1001 || c.Value > 1018 {
			t.Errorf("MPI_%s is %d", name, c.Value)
		}
	}
}
