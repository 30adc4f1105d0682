package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGenerated: the files are what the generator writes today.
func TestGenerated(t *testing.T) {
	all, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		old, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil || !bytes.Equal(old, text) {
			t.Errorf("%s is not what go run ./internal/abi/gen writes (%v)", name, err)
		}
	}
	if len(all) < 1 {
		t.Error("no file is generated")
	}
}
