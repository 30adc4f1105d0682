package main

import (
	"strings"
	"testing"

	"github.com/golci/golci/internal/abi"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// TestErrorClasses: the table and package errs have the same classes.
func TestErrorClasses(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range table.Sections {
		for _, c := range s.Constants {
			class := errs.Class(c.Value)
			if c.Name != "SUCCESS" && !strings.HasPrefix(c.Name, "ERR_") || c.Name == "ERR_LASTCODE" {
				continue
			}
			n++
			if class.Name() != "MPI_"+c.Name {
				t.Errorf("MPI_%s is %d, which package errs calls %s", c.Name, c.Value, class.Name())
			}
		}
	}
	if errs.ABI.Name() == "" || (errs.ABI+1).Name() != "" || n != int(errs.ABI)+1 {
		t.Errorf("there are %d classes", n)
	}
	if c, ok := table.Constant("ERR_LASTCODE"); !ok || c.Value != int64(errs.LastCode) {
		t.Errorf("the last code is %d", c.Value)
	}
}

// TestDatatypes: the table and package dtype have the same predefined types.
func TestDatatypes(t *testing.T) {
	types := make(map[string]int64)
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table.Sections {
		for _, c := range s.Constants {
			if s.Type == "MPI_Datatype" && c.Of == "" && c.Name != "DATATYPE_NULL" {
				types["MPI_"+c.Name] = c.Value
			}
		}
	}
	for _, b := range dtype.Basics() {
		if types[b.String()] != int64(b) {
			t.Errorf("%v is %#x, and %#x in the table", b, uint16(b), types[b.String()])
		}
		delete(types, b.String())
	}
	if len(types) != 0 {
		t.Errorf("package dtype lacks %v", types)
	}
}
