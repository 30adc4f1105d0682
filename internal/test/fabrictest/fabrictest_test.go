package fabrictest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformance: the network keeps the contract.
func TestConformance(t *testing.T) {
	for name, can := range Reaches {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit { return New(t, can, n, cfg) })
		})
	}
}
