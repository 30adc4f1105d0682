package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/bench/datagram"
	"github.com/golci/golci/bench/peers"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/udp/mmsg"
)

const (
	shmConduit = "shm"
	udpConduit = "udp"
	ofiConduit = "ofi"
)

// securities are the values of settings.UDPSecurity; the first is the default.
var securities = []string{"encrypt", "authenticate", "trust"}

// lookup is os.LookupEnv or a stand-in.
type lookup = func(name string) (string, bool)

// network says whether what is compared goes over the network, be it the loopback interface.
func (c *Config) network() bool { return c.Conduit == udpConduit }

func (c *Config) checkConduit(inJob bool) error {
	switch c.Conduit {
	case "", shmConduit, udpConduit, ofiConduit:
	default:
		return fmt.Errorf("%w: conduit %q; there are %q, %q and %q", ErrUsage, c.Conduit, shmConduit, udpConduit, ofiConduit)
	}
	if len(c.Security) > 0 && !c.network() {
		return fmt.Errorf("%w: security is a matter of the %s conduit", ErrUsage, udpConduit)
	}
	for _, s := range c.Security {
		if !slices.Contains(securities, s) {
			return fmt.Errorf("%w: security %q; there are %q", ErrUsage, s, securities)
		}
	}
	if inJob && c.Conduit != "" {
		return fmt.Errorf("%w: the ranks of a job that runs already are told their conduit by %s in their environment", ErrUsage, settings.Conduit.Env())
	}
	return nil
}

// variant is one way to run golci's ranks: what is added to their environment, as K=V.
type variant []string

// variants are run in turns, so that they can be compared.
func (c *Config) variants() []variant {
	if c.Conduit == "" {
		return []variant{nil}
	}
	conduit := settings.Conduit.Env() + "=" + c.Conduit
	if !c.network() {
		return []variant{{conduit}}
	}
	modes := c.Security
	if len(modes) == 0 {
		modes = securities[:1]
	}
	var out []variant
	for _, m := range modes {
		out = append(out, variant{conduit, settings.UDPSecurity.Env() + "=" + m})
	}
	return out
}

// label is the name in the rows of ranks with this environment: golci, golci-shm, golci-ofi,
// golci-udp-encrypt.
func label(env lookup) string {
	switch conduit, _ := env(settings.Conduit.Env()); conduit {
	case shmConduit, ofiConduit:
		return bench.Golci + "-" + conduit
	case udpConduit:
		mode, _ := env(settings.UDPSecurity.Env())
		return bench.Golci + "-" + conduit + "-" + cmp.Or(mode, securities[0])
	}
	return bench.Golci
}

// settings are those in which the peer is comparable with the chosen conduit.
func (r *runner) settings(m *peers.Peer) []peers.Setting {
	if r.network() {
		return m.Network
	}
	return m.Settings
}

// leastTraffic is less than what any of the benchmarks sends from its start to its end, in bytes.
const leastTraffic = 64 << 10

// watched runs f, which reports rows. It watches the loopback interface if these are to have gone over the network.
func (r *runner) watched(out func(bench.Row), f func(out func(bench.Row)) error) error {
	if !r.network() {
		return f(out)
	}
	return watch(loopbackBytes, out, f)
}

// watch checks that count, of bytes on the network, has grown while f ran. If not, the rows say so: a library that
// found a shorter way cannot be compared.
func watch(count func() (uint64, bool), out func(bench.Row), f func(out func(bench.Row)) error) error {
	before, ok := count()
	var rows []bench.Row
	err := f(func(row bench.Row) { rows = append(rows, row) })
	after, _ := count()
	for _, row := range rows {
		if moved := after - before; ok && moved < leastTraffic {
			row.Note = fmt.Sprintf("NOT over the network: %d bytes on the loopback interface", moved)
		}
		out(row)
	}
	return err
}

// loopbackBytes is how many bytes the loopback interface has moved so far; false where Linux does not tell.
func loopbackBytes() (uint64, bool) {
	text, err := os.ReadFile("/sys/class/net/lo/statistics/rx_bytes")
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// raw adds the limit: what UDP does by itself between the same two cores.
func (r *runner) raw(ctx context.Context, s spec, out func(bench.Row)) error {
	switch {
	case !r.network():
	case s.name == "latency":
		for _, size := range s.sizes {
			if size > mmsg.MaxPayload {
				continue // no datagram is that long
			}
			err := r.rawRow(s, []int{size}, bench.Micro, out, func() (float64, string, error) {
				d, err := datagram.PingPong(ctx, size, s.window)
				return float64(d.Nanoseconds()) / 1e3, "", err
			})
			if err != nil {
				return err
			}
		}
	case s.name == "bandwidth":
		return r.rawRow(s, s.sizes, bench.MegaPerSec, out, func() (float64, string, error) {
			rate, shape, err := datagram.Best(ctx, s.window)
			return rate / 1e6, shape.String(), err
		})
	}
	return nil
}

// rawRow measures once, between two crossings, for rows of all these sizes.
func (r *runner) rawRow(s spec, sizes []int, unit string, out func(bench.Row), measure func() (value float64, note string, err error)) error {
	return bench.Between(crossing.Here, func() (rows []bench.Row, err error) {
		value, note, err := measure()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("bench: %s: the raw limit", s.name), err)
		}
		for _, size := range sizes {
			rows = append(rows, bench.Row{
				Bench: s.name, Impl: bench.Raw, Size: size, Threads: 1, Value: value, Unit: unit, MinShare: 1,
				Note: note,
			})
		}
		return rows, nil
	}, out)
}
