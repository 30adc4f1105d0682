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
	if len(all) != 6 {
		t.Errorf("there are %d files", len(all))
	}
}

// TestTable looks at which row a function gets.
func TestTable(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	have, err := bodies([]byte("ABI(int, Wait, (x))\nABI_BODY(int, Bsend_c, (\n  ABI(int, Test, (x))\n"),
		[]byte("ABI(double, Wtime, (void))\nABI_BODY(int, Get_count_c, (x))\nABI_BODY(int, Comm_split, (x))\n"+
			"ABI_FAST(int, Send_c, (x), (x))\nABI_BODY(int, Type_vector, (x))\nABI_BODY(int, Win_create_c, (x))\n"+
			"COLLECTIVE_ONE(Barrier, Ibarrier, barrier,\nCOLLECTIVE(Bcast, Ibcast, bcast,\n"))
	if err != nil || len(have) != 8+3+6 {
		t.Fatalf("found the bodies %v: %v", have, err)
	}
	text, err := writeTable(table, have)
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]bool{
		"(Wait, ":       false,
		"(Wtime, ":      false,
		"(Send_c, ":     false,
		"(Barrier":      false,
		"(Ibcast":       false,
		"(Bcast_init_c": false,
		"(Win_toint":    false,
		"\nFRONT(Comm_split, \"ciip\", (comm, color, key, newcomm), (MPI_Comm comm, int color, int key, ":            true,
		"\nFRONT_OF_BOTH(Bsend, \"bntrgc\", (buf, count, datatype, dest, tag, comm), (const void *buf, COUNT count,": true,
		"\nSMALL(Send, (buf, count, datatype, dest, tag, comm), (const void *buf, COUNT count, ":                     true,
		"UNIT disp_unit, MPI_Info info, ":                                              true,
		"\nUNSUPPORTED(Test, (MPI_Request *request, int *flag, MPI_Status *status))\n": true,
		"\nFRONT(Get_count_c, \"p":                                                     true,
		"\nUNSUPPORTED(Get_count, (":                                                   true,
		"\nUNSUPPORTED(Type_vector_c, (":                                               true,
		"\nHANDLE(Win, MPI_Win)\n":                                                     true,
	} {
		if bytes.Contains(text, []byte(row)) != want {
			t.Errorf("the text has %q: %t, want %t", row, !want, want)
		}
	}
	if _, err := writeTable(table, map[string]body{"Wait_c": whole}); err == nil {
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
