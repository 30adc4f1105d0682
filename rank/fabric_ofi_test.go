//go:build ofi && linux && (amd64 || arm64)

package rank

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/dl"
	"github.com/golci/golci/internal/platform/fi"
	"github.com/golci/golci/internal/transport/ofi"
)

// TestFabricCards: ranks with other settings, another provider or no address are refused, with both sides named.
func TestFabricCards(t *testing.T) {
	mine := fabricCard{Agreed: 1, Provider: "efa", Name: []byte("here")}
	if err := mine.checkAgainst(fabricCard{1, "efa", []byte("there")}); err != nil {
		t.Error(err)
	}
	for says, other := range map[string]fabricCard{
		"settings":                       {2, "efa", []byte("there")},
		`there is "tcp" and here "efa"`:  {1, "tcp", []byte("there")},
		"it has no address in libfabric": {1, "efa", nil},
	} {
		if err := mine.checkAgainst(other); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", other, err, says)
		}
	}
}

// TestFabricLacks: a provider that is not there is an error with the settings to look at.
func TestFabricLacks(t *testing.T) {
	_, err := ofi.Look("nosuch", "")
	if errors.Is(err, dl.ErrMissing) {
		t.Skip(err)
	}
	err = job(t, 2, with("GOLCI_CONDUIT", ofi.Name, "GOLCI_OFI_PROVIDER", "nosuch"), func(*Rank) error { return nil })
	if !errors.Is(err, fi.ErrNone) || !strings.Contains(err.Error(), "GOLCI_OFI_PROVIDER") {
		t.Errorf("%v", err)
	}
}
