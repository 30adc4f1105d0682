package rank

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/seal"
)

func ofPool(f func(c udp.Config) any) func(o *options) any {
	return func(o *options) any { return f(datagramConfig(o, &boot.Job{Size: wiredRanks}, seal.Trust)) }
}

func ofTerms(f func(c credit.Config) int) func(o *options) any {
	return func(o *options) any { return f(wiredTerms(o)) }
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
	read        func(o *options) any
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
	"PollRequests": {func(o *options) any {
		limit := ofPool(func(c udp.Config) any { return c.AMLimit })(o)
		return fmt.Sprint(limit, " ", endpointConfig(o, plan{}, wiredRanks).Poll)
	}, "0 0", "95 95", Tuning{PollRequests: 95}},
	"MinRTO": {
		ofPool(func(c udp.Config) any { return c.MinRTO }),
		time.Duration(0), 9 * time.Millisecond,
		Tuning{MinRTO: 9 * time.Millisecond},
	},
	"ExitSettle": {
		func(o *options) any { return exitConfig(o, 0, wiredRanks).Settle },
		50 * time.Millisecond, time.Hour,
		Tuning{ExitSettle: time.Hour},
	},
}

// TestTuningIsWired: each field of Tuning reaches the configuration that it is for.
func TestTuningIsWired(t *testing.T) {
	options := func(u Tuning) *options {
		cfg := with("GOLCI_CONDUIT", "udp", "GOLCI_FLOWCONTROL", "dynamic", "GOLCI_AMRECV_SPACE", "0")
		cfg.Tuning = u
		o, err := cfg.readSettings()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Tuning]()) {
		c, ok := tuned[field.Name]
		if !ok {
			t.Errorf("no test tells what %s changes", field.Name)
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

// TestTuningIsChecked: values that no layer takes are an error, which names the field.
func TestTuningIsChecked(t *testing.T) {
	for name, u := range map[string]Tuning{
		"Bank": {Bank: 1 << 30}, "MaxLoan": {MaxLoan: -1}, "RevokeLimit": {RevokeLimit: 256}, "Scavenge": {Scavenge: 65},
		"MinRTO": {MinRTO: 1}, "ExitSettle": {ExitSettle: -1},
	} {
		_, err := Config{Tuning: u}.readSettings()
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "Tuning."+name+" is") {
			t.Errorf("%+v: %v", u, err)
		}
	}
}

// TestRemovedSettings: a setting that is one no more is an error, which names what has taken its place; a field of
// Tuning is there.
func TestRemovedSettings(t *testing.T) {
	for env, want := range map[string]string{
		"GOLCI_BANK": "Bank", "GOLCI_LOAN_MAX": "MaxLoan", "GOLCI_LENDER_LIMIT": "LenderLimit",
		"GOLCI_REVOKE_LIMIT": "RevokeLimit", "GOLCI_SCAVENGE": "Scavenge", "GOLCI_EPOCH": "Epoch",
		"GOLCI_MSG_LIMIT": "Messages", "GOLCI_SB_CHUNKS": "RequestChunks", "GOLCI_RPL_CHUNKS": "ReplyChunks",
		"GOLCI_SAFE_LIMIT": "PollReplies", "GOLCI_AM_LIMIT": "PollRequests", "GOLCI_SYS_LIMIT": "PollSystem",
		"GOLCI_UDP_MINRTO": "MinRTO", "GOLCI_EXITSETTLE": "ExitSettle",
		"GOLCI_UDP_DEADAFTER": "GOLCI_DEADAFTER", "GOLCI_CREDIT_STATS": "GOLCI_TRACE=credits=FILE",
	} {
		_, err := with(env, "1").readSettings()
		to, ok := settings.Successor(env)
		told := errors.Is(err, ErrArgument) && strings.HasSuffix(err.Error(), "use "+to)
		if !ok || !strings.Contains(to, want) || !told {
			t.Errorf("%s: %v, want %s", env, err, want)
		}
		if _, field, ok := strings.Cut(to, "field "); ok {
			name, _, _ := strings.Cut(field, ",")
			if _, ok := reflect.TypeFor[Tuning]().FieldByName(name); !ok {
				t.Errorf("%s: Tuning has no field %s", env, name)
			}
		}
	}
}
