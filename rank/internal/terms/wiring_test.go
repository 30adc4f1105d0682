package terms

import (
	"testing"

	"github.com/golci/golci/internal/test/settingstest"
	"github.com/golci/golci/internal/transport/credit"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wiredRanks = 4

func mustOptions(pairs ...string) *Options { return &Options{Values: settingstest.Parse(pairs...)} }

func wiredTerms(o *Options) credit.Config { return o.Credits(wiredRanks) }

func ofTerms(f func(c credit.Config) int) func(o *Options) any {
	return func(o *Options) any { return f(wiredTerms(o)) }
}

var wires = map[string]settingstest.Wire[*Options]{
	"GOLCI_CONDUIT": {Value: "udp", Read: func(o *Options) any { return o.network() }, Want: true},
	"GOLCI_EAGER":   {Value: "3000", Read: func(o *Options) any { return o.eager() }, Want: 3000},
	"GOLCI_FLOWCONTROL": {
		Value: "none", Read: func(o *Options) any { return wiredTerms(o).Mode }, Want: credit.NoFlow,
	},
	"GOLCI_LOAN": {Value: "55", Read: ofTerms(func(c credit.Config) int { return c.PerPeer }), Want: 55},
	"GOLCI_AMRECV_SPACE": {
		Value: "64MiB", Also: []string{"GOLCI_CONDUIT", "udp"},
		Read: func(o *Options) any { return wiredTerms(o).Bank > 200_000 }, Want: true,
	},
}

// TestEverySettingIsWired: each setting of the terms, given by the program or by the environment, reaches them.
func TestEverySettingIsWired(t *testing.T) { settingstest.Check(t, wires, mustOptions) }
