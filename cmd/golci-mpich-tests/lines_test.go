package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/golci/golci/cmd/golci-mpich-tests/internal/suite"
)

// TestLines: the list can be read, is as it would be written, and classifies each line.
func TestLines(t *testing.T) {
	list, err := suite.ParseList(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if list.Format() != embedded {
		t.Error("the list is not in the form that -update gives it")
	}
	for _, e := range list.Lines {
		if e.Reason == "unknown" {
			t.Errorf("%s: nothing is known of its program", e.Key)
		}
	}
}

// TestLinesOfCheckout: the list has the lines of a checkout of its commit, and no others.
func TestLinesOfCheckout(t *testing.T) {
	src := os.Getenv("MPICH_TESTS")
	if src == "" {
		t.Skip("MPICH_TESTS does not name a checkout of MPICH")
	}
	list, err := suite.ParseList(embedded)
	if err != nil {
		t.Fatal(err)
	}
	ctx, root := context.Background(), t.TempDir()
	commit, _, err := identify(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	if commit != list.Commit {
		t.Skipf("MPICH_TESTS has commit %s, the list is of %s", commit, list.Commit)
	}
	if err := copyTests(ctx, src, root); err != nil {
		t.Fatal(err)
	}
	lines, _, err := suite.Load(os.DirFS(filepath.Join(root, "test", "mpi")), suite.Strict)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range suite.Compare(list, lines, nil) {
		t.Errorf("%s: %s", d.What, d.Key)
	}
	programs := make(map[string]bool)
	for i := range lines {
		programs[lines[i].Name()] = true
	}
	if len(lines) != len(list.Lines) {
		t.Errorf("%d lines, %d in the list", len(lines), len(list.Lines))
	}
	t.Logf("%d lines, %d programs", len(lines), len(programs))
}
