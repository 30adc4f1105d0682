package am

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/fult"
)

func nop(*Token, []uint64, []byte) {}

// TestLayersCollide: what one layer has another does not get, and the error names both. A layer that is refused has
// registered nothing.
func TestLayersCollide(t *testing.T) {
	e := endpoints(t, 1, variants[0], Config{})[0]
	take := func(int, uint64, int64, []byte, *fult.Worker) {}
	spec := Spec{Name: "s", Run: nop, MaxReply: NoReply}
	first := Layer{Name: "first", First: 10, Handlers: []Spec{spec, {}, spec}, Bulk: take, Channel: 3}
	if err := e.Attach(first); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		l    Layer
		want error
		says []string
	}{
		{
			"an index",
			Layer{Name: "second", First: 12, Handlers: []Spec{spec}},
			ErrTaken,
			[]string{`"first"`, `"second"`, "index 12"},
		},
		{
			"the end of a range",
			Layer{Name: "second", First: 9, Handlers: []Spec{spec, spec}},
			ErrTaken,
			[]string{`"first"`, "index 10"},
		},
		{
			"an index kept free",
			Layer{Name: "second", First: 11, Handlers: []Spec{spec}},
			ErrTaken,
			[]string{`"first"`, "index 11"},
		},
		{
			"golci's own",
			Layer{Name: "second", First: 255, Handlers: []Spec{spec}},
			ErrTaken,
			[]string{`"am"`, "index 255"},
		},
		{
			"beyond the last",
			Layer{Name: "second", First: 255, Handlers: []Spec{spec, spec}},
			ErrHandler,
			[]string{"255 to 256"},
		},
		{
			"a channel",
			Layer{Name: "second", First: 20, Handlers: []Spec{spec}, Bulk: take, Channel: 3},
			ErrTaken,
			[]string{`"first"`, `"second"`, "channel 3"},
		},
		{"the channel of Longs", Layer{Name: "second", Bulk: take, Channel: BulkChannels}, ErrTaken, []string{`"am"`}},
		{
			"a channel beyond the last",
			Layer{Name: "second", Bulk: take, Channel: BulkChannels + 1},
			ErrSize,
			[]string{"channel 8"},
		},
		{
			"a long reply",
			Layer{Name: "second", First: 20, Handlers: []Spec{{Name: "r", Run: nop, MaxReply: 1 << 20}}},
			ErrSize,
			[]string{"handler 20 (r)"},
		},
		{"no name", Layer{First: 20, Handlers: []Spec{spec}}, ErrHandler, []string{"name"}},
	} {
		err := e.Attach(c.l)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
		for _, s := range c.says {
			if err != nil && !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v does not say %s", c.what, err, s)
			}
		}
	}
	if err := e.Attach(Layer{Name: "second", First: 20, Handlers: []Spec{spec}, Bulk: take, Channel: 4}); err != nil {
		t.Errorf("what nobody has: %v", err)
	}
	for what, err := range map[string]error{
		"the same index again":       e.Register(20, spec),
		"a handler without function": e.Register(30, Spec{Name: "n"}),
	} {
		if err == nil {
			t.Error(what)
		}
	}
}

// TestBulkWithoutLayer: bulk data on a channel that no layer has is a fault that names sender and channel.
func TestBulkWithoutLayer(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			var faults []string
			es := endpoints(t, 2, v, Config{Fatal: func(err error) { faults = append(faults, err.Error()) }})
			es[0].PutBulk(1, &Bulk{ID: MaxBulkID, Channel: 5, Data: make([]byte, 100), Owner: nobody{}})
			eventually(t, "a fault", func() bool {
				es[0].Poll()
				es[1].Poll()
				return len(faults) > 0
			})
			want := "am: rank 1: 100 bytes of bulk data from rank 0 on channel 5, which no layer has"
			if faults[0] != want {
				t.Errorf("%q, want %q", faults[0], want)
			}
		})
	}
}

type nobody struct{}

func (nobody) Sent(*fult.Worker)        {}
func (nobody) Fail(error, *fult.Worker) {}
