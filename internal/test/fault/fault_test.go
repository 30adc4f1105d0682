package fault

import (
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/conformance"
	"github.com/golci/golci/internal/transport/local"
)

var seedFlag = flag.Uint64("fault.seed", 0, "replay the faults from this seed")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wrapped(t testing.TB, n int, cfg conduit.Config, f Config) []conduit.Conduit {
	cs, err := local.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cs {
		cs[i] = New(cs[i], f)
	}
	return cs
}

func TestConformance(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with -fault.seed=%d", seed)
		}
	})
	for name, f := range map[string]Config{
		"none":    {},
		"refuse":  {Seed: seed, Refuse: 300},
		"late":    {Seed: seed, Hold: 200},
		"reorder": {Seed: seed, Hold: 200, Reorder: true},
		"all":     {Seed: seed, Refuse: 100, Hold: 100, Reorder: true, Startle: 500},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
				return wrapped(t, n, cfg, f)
			})
		})
	}
}

// order collects the high halves of the first words.
type order struct{ tags []uint32 }

func (o *order) Record(_ int, rec []byte) {
	o.tags = append(o.tags, uint32(rec[4])|uint32(rec[5])<<8)
}
func (o *order) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*order) Gone(int, error) {}

// deliver sends 500 records through the faults and returns the order of their arrival and the Retry count.
func deliver(t *testing.T, f Config) (tags []uint32, retries int) {
	cs := wrapped(t, 2, conduit.Config{}, f)
	o := &order{}
	for i := uint64(0); i < 500; {
		if _, st := cs[0].Reserve(1, conduit.Request, 8); st == conduit.OK {
			cs[0].Commit(1, i<<32|8)
			i++
		} else {
			retries++
		}
		cs[1].Poll(2, o)
	}
	for cs[1].Pending() {
		cs[1].Poll(4, o)
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	return o.tags, retries
}

func TestFaultsHappenAndRepeat(t *testing.T) {
	f := Config{Seed: 7, Refuse: 250, Hold: 250, Reorder: true}
	tags, retries := deliver(t, f)
	if slices.IsSorted(tags) || retries < 50 {
		t.Errorf("sorted %v, %d retries: no faults", slices.IsSorted(tags), retries)
	}
	again, retriesAgain := deliver(t, f)
	if !slices.Equal(tags, again) || retries != retriesAgain {
		t.Error("the same seed gave other faults")
	}
	f.Seed = 8
	if other, _ := deliver(t, f); slices.Equal(tags, other) {
		t.Error("another seed gave the same faults")
	}
	f.Reorder = false
	if tags, _ := deliver(t, f); !slices.IsSorted(tags) {
		t.Error("reordered without Reorder")
	}
	slices.Sort(tags)
	for i, tag := range tags {
		if tag != uint32(i) {
			t.Fatalf("record %d is missing or double", i)
		}
	}
}

func TestCut(t *testing.T) {
	cs := wrapped(t, 2, conduit.Config{}, Config{})
	if _, st := cs[1].Reserve(0, conduit.Request, 8); st != conduit.OK {
		t.Fatal(st)
	}
	cs[1].Commit(0, 8)
	cs[0].(*Conduit).Cut(1)
	cs[0].(*Conduit).Cut(9)
	if err := cs[0].Failed(1); !errors.Is(err, conduit.ErrPeerDied) {
		t.Errorf("Failed: %v", err)
	}
	if _, st := cs[0].Reserve(1, conduit.Reply, 8); st != conduit.Dead {
		t.Errorf("Reserve: %v", st)
	}
	if n, _ := cs[0].BulkSend(1, 0, 0, []byte{1}, nil); n != -1 {
		t.Errorf("BulkSend: %d", n)
	}
	o := &order{}
	if n := cs[0].Poll(10, o); n != 0 || len(o.tags) != 0 {
		t.Errorf("%d records from a peer that was cut off", n)
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
