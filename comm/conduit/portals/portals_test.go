package portals

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ranks(t testing.TB, n int, cfg Config) []conduit.Conduit {
	t.Helper()
	cs, err := New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
		return ranks(t, n, Config{Conduit: cfg})
	})
}
