//go:build ofi && linux && (amd64 || arm64)

package wiring

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/rank/internal/terms"
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
		if err := mine.checkAgainst(other); !errors.Is(err, terms.ErrArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", other, err, says)
		}
	}
}
