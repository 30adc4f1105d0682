package gasnettest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// network is a kind of conduit to run the tests over.
type network struct {
	name string
	make func(t testing.TB, n int, seed uint64) []conduit.Conduit
	slow bool // a message takes long: tests that try everything take samples
	long bool // left out with -short
	part bool // left out under the race detector, since other networks have the same and more
	like bool // a record lies as over local, where tests have every length of it
}

// networks are added to by files for one system.
var networks = []network{
	{name: "local", make: overLocal(conduit.Config{}, nil)},
	{name: "two-slot", make: overLocal(conduit.Config{TinyQueues: true}, nil), slow: true, part: true},
	{name: "bit-vector", make: overLocal(conduit.Config{ScanLimit: -1}, nil), like: true},
	{name: "bare", make: overLocal(conduit.Config{}, hide), part: true, like: true},
	{name: "faulty", make: overLocal(conduit.Config{}, spoil), slow: true, part: true},
	{name: "faulty two-slot bare", make: overLocal(conduit.Config{TinyQueues: true}, spoilBare), slow: true},
	{name: "udp", make: overUDP(udptest.Job{}, conduit.Config{}), slow: true, part: true},
	{name: "udp faulty", make: overUDP(badNetwork, conduit.Config{}), slow: true},
	{name: "udp faulty two-slot", make: overUDP(badNetwork, conduit.Config{TinyQueues: true}), slow: true, long: true},
	{name: "mixed", make: overMixed(conduit.Config{}, udptest.Job{Mode: seal.Trust}), slow: true, part: true},
	{name: "mixed faulty two-slot", make: overMixedFaulty(conduit.Config{TinyQueues: true}), slow: true},
}

// overAll runs f once over each network.
func overAll(t *testing.T, f func(t *testing.T, net network)) { over(t, networks, f) }

func over(t *testing.T, nets []network, f func(t *testing.T, net network)) {
	for _, net := range nets {
		t.Run(net.name, func(t *testing.T) {
			if testing.Short() && net.long {
				t.Skip("-short: another network shows as much in less time")
			}
			if invariants.Race && net.part {
				t.Skip("under the race detector another network shows as much")
			}
			f(t, net)
		})
	}
}

// badNetwork has datagrams of usual size on a network that loses, doubles and reorders them, each time in another way.
var badNetwork = udptest.Job{Mode: seal.Trust, Faults: udptest.Bad, MinRTO: udptest.BadMinRTO, Payload: 1400}

func overUDP(j udptest.Job, cfg conduit.Config) func(testing.TB, int, uint64) []conduit.Conduit {
	return func(t testing.TB, n int, seed uint64) []conduit.Conduit {
		j := j
		if j.Faults != "" {
			j.Faults += fmt.Sprintf(",seed=%d", seed)
		}
		return j.Open(t, n, cfg)
	}
}

// overMixed has even ranks, and odd ones, reach each other through rings with words, and the others through datagrams
// without.
func overMixed(near conduit.Config, far udptest.Job) func(testing.TB, int, uint64) []conduit.Conduit {
	return func(t testing.TB, n int, seed uint64) []conduit.Conduit {
		return mixedtest.Join(t, overLocal(near, nil)(t, n, seed), overUDP(far, near)(t, n, seed), mixedtest.Parity)
	}
}

// overMixedFaulty has a far side that spoils, with a bulk channel and no words, as a network.
func overMixedFaulty(cfg conduit.Config) func(testing.TB, int, uint64) []conduit.Conduit {
	return func(t testing.TB, n int, seed uint64) []conduit.Conduit {
		near, far := overLocal(cfg, nil)(t, n, seed), overLocal(cfg, spoilWordless)(t, n, seed)
		return mixedtest.Join(t, near, far, mixedtest.Parity)
	}
}

type wrap func(c conduit.Conduit, seed uint64) conduit.Conduit

func overLocal(cfg conduit.Config, w wrap) func(testing.TB, int, uint64) []conduit.Conduit {
	return func(t testing.TB, n int, seed uint64) []conduit.Conduit {
		cs, err := local.New(n, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return wrapAll(cs, w, seed)
	}
}

func wrapAll(cs []conduit.Conduit, w wrap, seed uint64) []conduit.Conduit {
	for i, c := range cs {
		if w != nil {
			cs[i] = w(c, seed)
		}
	}
	return cs
}

// spoil delays, reorders, refuses and wakes for nothing.
func spoil(c conduit.Conduit, seed uint64) conduit.Conduit {
	return fault.New(c, fault.Config{Seed: seed, Refuse: 50, Hold: 100, Reorder: true, Startle: 100})
}

func spoilBare(c conduit.Conduit, seed uint64) conduit.Conduit { return spoil(hide(c, seed), seed) }

func spoilWordless(c conduit.Conduit, seed uint64) conduit.Conduit { return spoil(wordless{c}, seed) }

// hide takes the credit words and the bulk channel away.
func hide(c conduit.Conduit, _ uint64) conduit.Conduit { return bare{wordless{c}} }

// wordless has no credit words: a conduit over a network has none.
type wordless struct{ conduit.Conduit }

func (wordless) Mine(int) *atomic.Uint64   { return nil }
func (wordless) Theirs(int) *atomic.Uint64 { return nil }

type bare struct{ wordless }

func (b bare) Caps() conduit.Caps {
	c := b.Conduit.Caps()
	c.BulkChunk, c.BulkSlots = 0, 0
	return c
}
