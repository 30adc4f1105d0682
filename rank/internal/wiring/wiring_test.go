package wiring

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/test/settingstest"
	"github.com/golci/golci/internal/transport/udp/faulty"
	"github.com/golci/golci/internal/transport/udp/seal"
	"github.com/golci/golci/rank/internal/terms"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wiredRanks = 4

func mustOptions(pairs ...string) *terms.Options {
	return &terms.Options{Values: settingstest.Parse(pairs...)}
}

// aQuarterLost is what loss=0.25 stands for.
var aQuarterLost = func() string {
	f, err := faulty.Parse("loss=0.25")
	return fmt.Sprint(f, err)
}()

var wires = map[string]settingstest.Wire[*terms.Options]{
	"GOLCI_UDP_SECURITY": {Value: "trust", Read: func(o *terms.Options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(datagramConfig(o, &boot.Job{Size: wiredRanks}, c.Mode).Mode, err)
	}, Want: "trust <nil>"},
	"GOLCI_UDP_INTERFACES": {Value: "lo", Read: func(o *terms.Options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(c.Interfaces, err)
	}, Want: "lo<nil>"},
	"GOLCI_UDP_BUFFER": {Value: "123456", Read: func(o *terms.Options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(c.Buffer, err)
	}, Want: "123456 <nil>"},
	"GOLCI_DEADAFTER": {Value: "20s", Read: func(o *terms.Options) any {
		c := datagramConfig(o, &boot.Job{Size: wiredRanks}, seal.Trust)
		return fmt.Sprint(c.DeadAfter, c.KeepAlive)
	}, Want: "20s 2s"},
	"GOLCI_UDP_FAULTS": {Value: "loss=0.25", Read: func(o *terms.Options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(c.Faults, err)
	}, Want: aQuarterLost},
	"GOLCI_OFI_PROVIDER": {Value: "efa", Read: func(o *terms.Options) any {
		provider, _ := fabricWay(o.Values)
		return provider
	}, Want: "efa"},
	"GOLCI_OFI_DOMAIN": {Value: "mlx5_0", Read: func(o *terms.Options) any {
		_, domain := fabricWay(o.Values)
		return domain
	}, Want: "mlx5_0"},
	"GOLCI_INIT_TIMEOUT": {Value: "17s", Read: func(o *terms.Options) any {
		return sharedConfig(&boot.Job{Size: wiredRanks}, o).Timeout
	}, Want: 17 * time.Second},
}

// TestEverySettingIsWired: each setting of conduits, given by the program or by the environment, reaches the
// configuration that it is for.
func TestEverySettingIsWired(t *testing.T) { settingstest.Check(t, wires, mustOptions) }

// TestTuningIsWired: a bound of datagrams alone reaches their conduit.
func TestTuningIsWired(t *testing.T) {
	o := mustOptions()
	for _, want := range []time.Duration{0, 9 * time.Millisecond} {
		o.Tuning.MinRTO = want
		if got := datagramConfig(o, &boot.Job{Size: wiredRanks}, seal.Trust).MinRTO; got != want {
			t.Errorf("MinRTO is %v, want %v", got, want)
		}
	}
}
