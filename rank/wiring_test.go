package rank

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/udp/faulty"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// wire tells how a setting reaches the package that it is for: set to value, together with the settings of also, read
// gives want; unset it gives something else.
type wire struct {
	value string
	also  []string // pairs: variable, value
	read  func(o *options) any
	want  any
}

const wiredRanks = 4

func wiredTerms(o *options) credit.Config { return terms(o, wiredRanks) }

// aQuarterLost is what loss=0.25 stands for.
var aQuarterLost = func() string {
	f, err := faulty.Parse("loss=0.25")
	return fmt.Sprint(f, err)
}()

var (
	pooled  = []string{"GOLCI_CONDUIT", "udp"}
	exiting = func(n int) func(o *options) any { return func(o *options) any { return boot.ExitLimit(o.values, n) } }
)

func ofPlan(f func(p plan) any) func(o *options) any {
	return func(o *options) any {
		return f(planFor(o, coreShare{ranks: 1, machine: 4, cores: []int{0, 1}, own: true}))
	}
}

// wires has every setting. Those without read say why.
var wires = map[string]wire{
	"GOLCI_WORKERS":   {"3", nil, ofPlan(func(p plan) any { return p.workers }), 3},
	"GOLCI_THREADS":   {"1000", nil, func(o *options) any { return schedulerConfig(o, plan{}).MaxThreads }, 1000},
	"GOLCI_SCHEDULER": {"fult", nil, func(o *options) any { return schedulerConfig(o, plan{}).Unchecked }, true},
	"GOLCI_SERVER":    {"dedicated", nil, ofPlan(func(p plan) any { return p.dedicated }), true},
	"GOLCI_SPIN": {"7ms", nil, func(o *options) any {
		return fmt.Sprint(schedulerConfig(o, plan{}).Spin, endpointConfig(o, plan{}, wiredRanks).Progress.Spin)
	}, "7ms 7ms"},
	"GOLCI_CONDUIT": {"udp", nil, func(o *options) any { return o.network() }, true},
	"GOLCI_UDP_SECURITY": {"trust", nil, func(o *options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(datagramConfig(o, &boot.Job{Size: wiredRanks}, c.Mode).Mode, err)
	}, "trust <nil>"},
	"GOLCI_UDP_INTERFACES": {"lo", nil, func(o *options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(c.Interfaces, err)
	}, "lo<nil>"},
	"GOLCI_UDP_BUFFER": {"123456", nil, func(o *options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(c.Buffer, err)
	}, "123456 <nil>"},
	"GOLCI_DEADAFTER": {"20s", nil, func(o *options) any {
		c := datagramConfig(o, &boot.Job{Size: wiredRanks}, seal.Trust)
		return fmt.Sprint(c.DeadAfter, c.KeepAlive)
	}, "20s 2s"},
	"GOLCI_UDP_FAULTS": {"loss=0.25", nil, func(o *options) any {
		c, err := listenConfig(o, wiredRanks)
		return fmt.Sprint(c.Faults, err)
	}, aQuarterLost},
	"GOLCI_OFI_PROVIDER": {"efa", nil, func(o *options) any {
		provider, _ := fabricWay(o.values)
		return provider
	}, "efa"},
	"GOLCI_OFI_DOMAIN": {"mlx5_0", nil, func(o *options) any {
		_, domain := fabricWay(o.values)
		return domain
	}, "mlx5_0"},
	"GOLCI_EAGER":        {"3000", nil, func(o *options) any { return eager(o) }, 3000},
	"GOLCI_RENDEZVOUS":   {"get", nil, nil, "mpi: TestServerConfig holds it"},
	"GOLCI_UNEXPECTED":   {"77777", nil, nil, "mpi: TestServerConfig holds it"},
	"GOLCI_FLOWCONTROL":  {"none", nil, func(o *options) any { return wiredTerms(o).Mode }, credit.NoFlow},
	"GOLCI_LOAN":         {"55", nil, ofTerms(func(c credit.Config) int { return c.PerPeer }), 55},
	"GOLCI_AMRECV_SPACE": {"64MiB", pooled, func(o *options) any { return wiredTerms(o).Bank > 200_000 }, true},
	"GOLCI_CHECK":        {"types", nil, nil, "mpi: TestServerConfig holds it"},
	"GOLCI_COLLECTIVES":  {"messages", nil, nil, "mpi: TestBoardSetting holds it"},
	"GOLCI_TRACE":        {"x.%r", nil, nil, "held by TestTimeline, TestTimelineFull and TestCreditStatsOverTime"},
	"GOLCI_INIT_TIMEOUT": {"17s", nil, func(o *options) any { return sharedConfig(&boot.Job{Size: wiredRanks}, o).Timeout }, 17 * time.Second},
	"GOLCI_EXITTIMEOUT":  {"18s", nil, exiting(2), 18 * time.Second},
	"GOLCI_BIND":         {"none", nil, nil, "no test here: cmd/golci reads it"},
	"GOLCI_STUCK":        {"19s", nil, func(o *options) any { return schedulerConfig(o, plan{}).StuckAfter }, 19 * time.Second},
	"GOLCI_DUMP":         {"stacks", nil, nil, "read when the signal comes: internal/test/jobtest"},
	"GOLCI_DEBUG":        {"on", nil, nil, "no test here: internal/job/boot reads it"},
}

func mustOptions(pairs []string) *options {
	o, err := with(pairs...).readSettings()
	if err != nil {
		panic(err)
	}
	return o
}

// TestEverySettingIsWired: each setting, given by an option or by the environment, reaches the configuration that it
// is for.
func TestEverySettingIsWired(t *testing.T) {
	all := mustOptions(nil).values.List()
	for _, i := range all {
		t.Setenv(i.Env, "") // whatever the tests are run with
	}
	for _, i := range all {
		t.Run(i.Env, func(t *testing.T) {
			w, ok := wires[i.Env]
			if !ok {
				t.Fatal("no test tells what this setting changes")
			}
			if w.read == nil {
				t.Skipf("not a field of a configuration of this package: %v", w.want)
			}
			if got := w.read(mustOptions(w.also)); got == w.want {
				t.Errorf("without the setting it is %v already", got)
			}
			if got := w.read(mustOptions(append([]string{i.Env, w.value}, w.also...))); got != w.want {
				t.Errorf("set by an option to %s: %v, want %v", w.value, got, w.want)
			}
			t.Setenv(i.Env, w.value)
			if got := w.read(mustOptions(w.also)); got != w.want {
				t.Errorf("set by the environment to %s: %v, want %v", w.value, got, w.want)
			}
		})
	}
}
