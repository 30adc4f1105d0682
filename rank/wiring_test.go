package rank

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/test/settingstest"
	"github.com/golci/golci/rank/internal/cores"
)

const wiredRanks = 4

type wire = settingstest.Wire[*options]

func exiting(n int) func(o *options) any {
	return func(o *options) any { return boot.ExitLimit(o.terms.Values, n) }
}

const (
	ofTerms  = "rank/internal/terms: TestEverySettingIsWired holds it"
	ofWiring = "rank/internal/wiring: TestEverySettingIsWired holds it"
	ofCores  = "rank/internal/cores: TestEverySettingIsWired holds it"
	ofServer = "mpi: TestServerConfig holds it"
)

// wires has every setting. Those without Read say why.
var wires = map[string]wire{
	"GOLCI_WORKERS": {Want: ofCores},
	"GOLCI_THREADS": {
		Value: "1000", Read: func(o *options) any { return schedulerConfig(o, cores.Plan{}).MaxThreads }, Want: 1000,
	},
	"GOLCI_SCHEDULER": {
		Value: "fult", Read: func(o *options) any { return schedulerConfig(o, cores.Plan{}).Unchecked }, Want: true,
	},
	"GOLCI_SERVER": {Want: ofCores},
	"GOLCI_SPIN": {Value: "7ms", Read: func(o *options) any {
		return fmt.Sprint(schedulerConfig(o, cores.Plan{}).Spin, endpointConfig(o, cores.Plan{}, wiredRanks).Progress.Spin)
	}, Want: "7ms 7ms"},
	"GOLCI_CONDUIT":        {Want: ofTerms},
	"GOLCI_UDP_SECURITY":   {Want: ofWiring},
	"GOLCI_UDP_INTERFACES": {Want: ofWiring},
	"GOLCI_UDP_BUFFER":     {Want: ofWiring},
	"GOLCI_DEADAFTER":      {Want: ofWiring},
	"GOLCI_UDP_FAULTS":     {Want: ofWiring},
	"GOLCI_OFI_PROVIDER":   {Want: ofWiring},
	"GOLCI_OFI_DOMAIN":     {Want: ofWiring},
	"GOLCI_EAGER":          {Want: ofTerms},
	"GOLCI_RENDEZVOUS":     {Want: ofServer},
	"GOLCI_UNEXPECTED":     {Want: ofServer},
	"GOLCI_FLOWCONTROL":    {Want: ofTerms},
	"GOLCI_LOAN":           {Want: ofTerms},
	"GOLCI_AMRECV_SPACE":   {Want: ofTerms},
	"GOLCI_CHECK":          {Want: ofServer},
	"GOLCI_COLLECTIVES":    {Want: "mpi: TestBoardSetting holds it"},
	"GOLCI_TRACE":          {Want: "held by TestTimeline, TestTimelineFull and TestCreditStatsOverTime"},
	"GOLCI_INIT_TIMEOUT":   {Want: ofWiring},
	"GOLCI_EXITTIMEOUT":    {Value: "18s", Read: exiting(2), Want: 18 * time.Second},
	"GOLCI_BIND":           {Want: "no test here: cmd/golci reads it"},
	"GOLCI_STUCK": {
		Value: "19s", Read: func(o *options) any { return schedulerConfig(o, cores.Plan{}).StuckAfter },
		Want: 19 * time.Second,
	},
	"GOLCI_DUMP":  {Want: "read when the signal comes: internal/test/jobtest"},
	"GOLCI_DEBUG": {Want: "no test here: internal/job/boot reads it"},
}

func mustOptions(pairs ...string) *options {
	o, err := with(pairs...).readSettings()
	if err != nil {
		panic(err)
	}
	return o
}

// TestEverySettingIsWired: each setting, given by an option or by the environment, reaches the configuration that it
// is for.
func TestEverySettingIsWired(t *testing.T) {
	for _, i := range mustOptions().terms.Values.List() {
		if _, ok := wires[i.Env]; !ok {
			t.Errorf("no test tells what %s changes", i.Env)
		}
	}
	settingstest.Check(t, wires, mustOptions)
}

// TestOptionsReachTheTerms: the terms of messages have what the program has given besides settings.
func TestOptionsReachTheTerms(t *testing.T) {
	cfg := Config{Name: "b", Tuning: Tuning{Bank: 7}}
	o, err := cfg.readSettings()
	if err != nil {
		t.Fatal(err)
	}
	if o.terms.KeyName("a") != "ab" || o.terms.Tuning != cfg.Tuning {
		t.Errorf("%+v", o.terms)
	}
}

// TestConfigsFollowThePlan: the scheduler and the endpoint are as the plan of the rank says.
func TestConfigsFollowThePlan(t *testing.T) {
	o := mustOptions("GOLCI_SPIN", "1ms")
	o.terms.Tuning.PollRequests = 95
	for _, p := range []cores.Plan{
		{},
		{Workers: 3, Tight: true},
		{Workers: 1, Crowded: true, Dedicated: true, Pin: []int{2}},
	} {
		if c := schedulerConfig(o, p); c.Crowded != p.Tight || c.Workers != p.Workers || len(c.Pin) != len(p.Pin) {
			t.Errorf("%+v: the scheduler has %+v", p, c)
		}
		c := endpointConfig(o, p, wiredRanks)
		if c.Progress.Crowded != p.Crowded || c.Progress.Dedicated != p.Dedicated || c.Poll != 95 {
			t.Errorf("%+v: the endpoint has %+v", p, c)
		}
	}
}

// TestCrowdedProcessesSpinLonger: by as many turns as there are ranks to a processor, and only where they can share it.
func TestCrowdedProcessesSpinLonger(t *testing.T) {
	o := mustOptions("GOLCI_SPIN", "1ms")
	p := cores.PlanFor(o.terms.Values, cores.ShareInProcess(1<<12))
	if c := endpointConfig(o, p, wiredRanks).Progress; c.Spin != time.Millisecond || c.Share != nil {
		t.Errorf("ranks of one process spin for %v", c.Spin)
	}
	p.Share = func() {}
	c := endpointConfig(o, p, wiredRanks).Progress
	if c.Spin != time.Millisecond*p.Turns() || p.Turns() < 2 || c.Share == nil {
		t.Errorf("processes spin for %v, of %d turns", c.Spin, p.Turns())
	}
}
