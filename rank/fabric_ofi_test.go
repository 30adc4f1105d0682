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
