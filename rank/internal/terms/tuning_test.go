package terms

import (
	"reflect"
	"testing"

	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/udp"
)

func ofPool(f func(c udp.Config) any) func(o *Options) any {
	return func(o *Options) any { return f(o.Pooled(udp.Config{Size: wiredRanks})) }
}

// unrounded is the bank without what the rounding to whole buffers adds, if that is less than a buffer.
func unrounded(want int) func(c credit.Config) int {
	return func(c credit.Config) int {
		if over := c.Bank - want; over >= 0 && over < receivepool.ShapeFor(1, 64<<10).Credits {
			return want
		}
		return c.Bank
	}
}

// tuned tells how each field of Tuning reaches the package that it is for: with usual it is 0 in Tuning.
var tuned = map[string]struct {
	read        func(o *Options) any
	usual, with any
	set         Tuning
}{
	"Bank":          {ofTerms(unrounded(9999)), nil, 9999, Tuning{Bank: 9999}},
	"MaxLoan":       {ofTerms(func(c credit.Config) int { return c.Max }), wideLoan, 2345, Tuning{MaxLoan: 2345}},
	"LenderLimit":   {ofTerms(func(c credit.Config) int { return c.LenderLimit }), 32, 77, Tuning{LenderLimit: 77}},
	"RevokeLimit":   {ofTerms(func(c credit.Config) int { return c.RevokeLimit }), 32, 78, Tuning{RevokeLimit: 78}},
	"Scavenge":      {ofTerms(func(c credit.Config) int { return c.Scavenge }), 6, 13, Tuning{Scavenge: 13}},
	"Epoch":         {ofTerms(func(c credit.Config) int { return c.Epoch }), 1024, 4321, Tuning{Epoch: 4321}},
	"Messages":      {ofPool(func(c udp.Config) any { return c.Limits.Messages }), 0, 99, Tuning{Messages: 99}},
	"RequestChunks": {ofPool(func(c udp.Config) any { return c.Limits.Requests }), 0, 98, Tuning{RequestChunks: 98}},
	"ReplyChunks":   {ofPool(func(c udp.Config) any { return c.Limits.Replies }), 0, 97, Tuning{ReplyChunks: 97}},
	"PollReplies":   {ofPool(func(c udp.Config) any { return c.SafeLimit }), 12, 96, Tuning{PollReplies: 96}},
	"PollSystem":    {ofPool(func(c udp.Config) any { return c.SysLimit }), 0, 94, Tuning{PollSystem: 94}},
	"PollRequests":  {ofPool(func(c udp.Config) any { return c.AMLimit }), 0, 95, Tuning{PollRequests: 95}},
	"MinRTO":        {usual: "rank/internal/wiring: TestTuningIsWired holds it"},
	"ExitSettle":    {usual: "rank/internal/ending: TestSettle holds it"},
}

// TestTuningIsWired: each field of Tuning reaches the configuration that it is for.
func TestTuningIsWired(t *testing.T) {
	options := func(u Tuning) *Options {
		o := mustOptions("GOLCI_CONDUIT", "udp", "GOLCI_FLOWCONTROL", "dynamic", "GOLCI_AMRECV_SPACE", "0")
		o.Tuning = u
		return o
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Tuning]()) {
		c, ok := tuned[field.Name]
		if !ok {
			t.Errorf("no test tells what %s changes", field.Name)
			continue
		}
		if c.read == nil {
			continue
		}
		if got := c.read(options(Tuning{})); c.usual != nil && got != c.usual || got == c.with {
			t.Errorf("without %s it is %v, want %v", field.Name, got, c.usual)
		}
		if got := c.read(options(c.set)); got != c.with {
			t.Errorf("%+v: %v, want %v", c.set, got, c.with)
		}
	}
	if got := wiredTerms(options(Tuning{Bank: -1})); got.Bank > receivepool.ShapeFor(1, 64<<10).Credits {
		t.Errorf("without a bank it has %d credits", got.Bank)
	}
}
