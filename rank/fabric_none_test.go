//go:build !ofi || !linux || !(amd64 || arm64)

package rank

import (
	"errors"
	"testing"

	"github.com/golci/golci/internal/transport/ofi"
)

// TestFabricNotBuilt: a program without the conduit says how to build it with.
func TestFabricNotBuilt(t *testing.T) {
	err := job(t, 2, with("GOLCI_CONDUIT", ofi.Name), func(*Rank) error { return nil })
	if !errors.Is(err, ErrArgument) || !errors.Is(err, ofi.ErrNotBuilt) {
		t.Errorf("%v", err)
	}
	for _, c := range Conduits() {
		if c.Name == ofi.Name && !errors.Is(c.Lacks, ofi.ErrNotBuilt) {
			t.Errorf("%+v", c)
		}
	}
}
