package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/realm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// job runs the program on n ranks of this process, and returns what rank 0 has printed.
func job(n int, o options) (string, error) {
	var out bytes.Buffer // rank 0 alone writes to it
	err := realm.Run(n, func(rt *realm.Runtime) error { return circuit(context.Background(), rt, o, &out) })
	return out.String(), err
}

// cases are circuits whose charges go by lists, by folds, to all pieces, to none, one step at a time and all at once.
var cases = []options{
	{pieces: 1, nodes: 1, wires: 0, leave: 0, steps: 1, inner: 1, ahead: 1},
	{pieces: 4, nodes: 30, wires: 100, leave: 20, steps: 40, inner: 3, ahead: 8},
	{pieces: 2, nodes: 5, wires: 400, leave: 60, steps: 25, inner: 2, ahead: 1},
	{pieces: 3, nodes: 300, wires: 300, leave: 100, steps: 12, inner: 4, ahead: 100},
	{pieces: 3, nodes: 20, wires: 50, leave: 0, steps: 20, inner: 4, ahead: 3},
}

// TestEqualToSerial: both forms give what a serial run gives, to the last bit, however the ranks are connected. The
// program itself compares.
func TestEqualToSerial(t *testing.T) {
	for _, net := range []struct{ name, conduit, faults string }{
		{"local", "local", ""}, {"udp", "udp", ""}, {"faulty", "udp", "loss=0.02,dup=0.05,reorder=0.2,seed=5"},
	} {
		for n := 1; n <= 3; n++ {
			if n == 1 && net.name != "local" || testing.Short() && net.name == "udp" {
				continue
			}
			t.Run(fmt.Sprintf("%s of %d", net.name, n), func(t *testing.T) {
				t.Setenv("GOLCI_CONDUIT", net.conduit)
				t.Setenv("GOLCI_UDP_FAULTS", net.faults)
				for i, o := range cases {
					o.check, o.seed = true, uint64(i)
					out, err := job(n, o)
					if err != nil || !strings.HasSuffix(out, "check: both are equal to a serial run\n") {
						t.Errorf("%+v: %v\n%s", o, err, out)
					}
				}
			})
		}
	}
}

// TestCharges: bundles of many wires into few nodes are folded, others are logged.
func TestCharges(t *testing.T) {
	err := realm.Run(1, func(rt *realm.Runtime) error {
		b := &board{rt: rt, o: options{pieces: 2}}
		few, err := b.newCharges(bundle{nodes: []int64{3, 5}, ends: make([]int64, 100)})
		if _, ok := few.(*realm.FoldInstance[int64, int64]); !ok || err != nil {
			t.Errorf("100 wires into two nodes: %T, %v", few, err)
		}
		many, err := b.newCharges(bundle{nodes: []int64{3, 5, 8}, ends: make([]int64, 3)})
		if _, ok := many.(*realm.ListInstance[int64, int64]); !ok || err != nil {
			t.Errorf("3 wires into three nodes: %T, %v", many, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A rank that is missing ends the others.
func TestMissing(t *testing.T) {
	lost := errors.New("lost")
	err := realm.Run(3, func(rt *realm.Runtime) error {
		if rt.Rank() == 1 {
			return lost
		}
		return circuit(context.Background(), rt, cases[1], &bytes.Buffer{})
	})
	if !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}

// A task that fails ends both forms with its error, instead of a wait for ever.
func TestTaskFails(t *testing.T) {
	for _, form := range []func(*board, context.Context) error{(*board).bulk, (*board).deferred} {
		err := realm.Run(2, func(rt *realm.Runtime) error {
			o := cases[1]
			b, err := newBoard(t.Context(), rt, draw(rt.Size()*o.pieces, o.nodes, o.wires, o.leave, 1), o)
			if err != nil {
				return err
			}
			if err := b.reset(t.Context()); err != nil {
				return err
			}
			if rt.Rank() == 1 {
				b.pieces[2].downstream[0].ends[0] = -1 // no node
			}
			return form(b, t.Context())
		})
		if err == nil || !strings.Contains(err.Error(), "-1") {
			t.Errorf("got %v", err)
		}
	}
}

func TestFlags(t *testing.T) {
	o,
		err := parse(strings.Fields("-pieces 3 -nodes 9 -wires 20 -pct 100 -steps 7 -inner 2 -ahead 5 -seed 8 -check=false"))
	want := options{pieces: 3, nodes: 9, wires: 20, leave: 100, steps: 7, inner: 2, ahead: 5, seed: 8}
	if err != nil || o != want {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, args := range []string{
		"-pieces 0", "-nodes 0", "-wires -1", "-pct 101", "-pct -1", "-steps 0", "-inner 0", "-ahead 0", "-seed -1",
		"extra",
	} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
