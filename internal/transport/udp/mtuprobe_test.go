package udp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/simlink"
	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/udp/nic"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// beside is what a datagram of these tests has beside a packet of the core.
const beside = seal.HeaderSize + seal.TagSize + headerSize

// simRank is one of two ranks in virtual time: a reliable core and a sizer, as the conduit joins them.
type simRank struct {
	net     *simlink.Net
	peer    int
	core    *reliable.Endpoint
	size    sizer
	mtu     int // of a datagram
	lookAt  time.Duration
	feed    func(r *simRank)
	came    int // bytes
	err     error
	longest int // datagram that left
	room    [reliable.MaxMTU]byte
}

// newSimRanks makes two ranks whose system says that datagrams of payload bytes pass.
func newSimRanks(t *testing.T, net *simlink.Net, payload int) (ranks [2]*simRank) {
	t.Helper()
	for i := range ranks {
		r := &simRank{net: net, peer: 1 - i}
		core, err := reliable.New(reliable.Config{Sink: r})
		if err != nil {
			t.Fatal(err)
		}
		r.core = core
		r.size.mtu = nic.NewMTU(payload, payload, beside+reliable.MinMTU)
		r.mtu = r.size.mtu.Payload()
		if err := core.Add(r.peer, reliable.Link{MTU: r.coreMTU(r.mtu)}, 0); err != nil {
			t.Fatal(err)
		}
		r.countLarge()
		net.Join(r)
		ranks[i] = r
	}
	return ranks
}

func (r *simRank) coreMTU(datagram int) int { return min(datagram-beside, reliable.MaxMTU) }

func (r *simRank) countLarge() {
	r.core.CountLarge(r.peer, max(r.coreMTU(r.size.mtu.Below())-mostOverhead, 0))
}

func (r *simRank) resize() {
	if n := r.size.mtu.Payload(); n != r.mtu && r.err == nil {
		r.mtu = n
		r.err = r.core.SetMTU(r.peer, r.coreMTU(n))
		r.countLarge()
	}
}

// Next implements simlink.End.
func (r *simRank) Next() time.Duration {
	if r.err != nil {
		return simlink.Never
	}
	return min(r.core.NextTimer(), r.lookAt)
}

// Poll implements simlink.End.
func (r *simRank) Poll(now time.Duration) {
	if r.err != nil {
		return
	}
	if r.feed != nil {
		r.feed(r)
	}
	r.core.Outgoing(now, 64, r)
	if now < r.lookAt || r.err != nil {
		return
	}
	r.lookAt = now + sizeEvery
	s := r.core.Stats(r.peer)
	if r.size.lookAtLosses(&s, r.mtu, func() int { return 0 }, now) {
		r.control(probeKind, controlSize+beside, controlSize+beside)
	}
	r.resize()
	if size, ok := r.size.probe(now); ok {
		r.control(probeKind, size, size)
	}
}

// control sends a word in a datagram of n bytes.
func (r *simRank) control(kind byte, size, n int) {
	b := make([]byte, n-beside)
	b[0], b[1] = controlByte, kind
	binary.BigEndian.PutUint32(b[2:], uint32(size))
	r.net.Send(1-r.peer, r.peer, b)
}

// Incoming implements simlink.End.
func (r *simRank) Incoming(_ int, packet []byte, now time.Duration) {
	if r.size.heard = true; packet[0] != controlByte {
		r.core.Incoming(r.peer, packet, now)
		return
	}
	size := int(binary.BigEndian.Uint32(packet[2:]))
	if packet[1] == probeKind {
		r.control(answerKind, size, controlSize+beside)
	} else if r.size.probeAnswered(size, now) {
		r.resize()
	}
}

func (r *simRank) Room(_, n int) []byte { return r.room[:n] }

func (r *simRank) Packet(_ int, _ uint64, _ reliable.Channel, packet []byte) {
	r.longest = max(r.longest, len(packet)+beside)
	r.net.Send(1-r.peer, r.peer, packet)
}

func (r *simRank) Message(_ int, _ uint8, data []byte)           { r.came += len(data) }
func (r *simRank) Put(_ int, _ uint8, _, _ uint64, piece []byte) { r.came += len(piece) }
func (r *simRank) Ended(int, uint64, error)                      {}
func (r *simRank) Dead(_ int, err error)                         { r.err = err }

// TestEveryBlackHole: what is longer than a size vanishes, from the start or from the middle on, and nobody tells. All
// data arrive over every path that takes the least datagram, with and without other losses.
func TestEveryBlackHole(t *testing.T) {
	const least, most = beside + reliable.MinMTU, 1500
	for _, c := range []struct {
		payload int // that the system says
		from    time.Duration
		loss    float64
		message int
		total   int
		every   int // of the sizes
	}{
		{payload: 1472, message: 1400, total: 200_000, every: 1},
		{payload: 1472, message: 65_000, total: 200_000, every: 1},
		{payload: 1472, from: 600 * time.Microsecond, message: 1400, total: 200_000, every: 1},
		{payload: 1472, from: 600 * time.Microsecond, message: 65_000, total: 200_000, every: 1},
		{payload: 1472, from: 600 * time.Microsecond, loss: 0.02, message: 65_000, total: 200_000, every: 7},
		{payload: 65_507, message: 65_000, total: 1 << 20, every: 19},
		{payload: 65_507, from: 50 * time.Microsecond, message: 40_000, total: 2 << 20, every: 19},
		{payload: 65_507, from: 50 * time.Microsecond, loss: 0.02, message: 40_000, total: 2 << 20, every: 19},
	} {
		t.Run(fmt.Sprintf("payload=%d/from=%v/loss=%v/message=%d", c.payload, c.from, c.loss, c.message), func(t *testing.T) {
			step := c.every
			if testing.Short() || invariants.Race { // a simulation is one goroutine
				step *= 19
			}
			for hole := least; hole <= most; hole += step {
				net := &simlink.Net{}
				dice := rand.New(rand.NewPCG(uint64(hole), 1))
				dropped := 0
				net.Fate = func(_, _ int, packet []byte, now time.Duration) []time.Duration {
					if len(packet)+beside > hole && now >= c.from {
						dropped++
						return nil
					}
					if c.loss > 0 && dice.Float64() < c.loss {
						return nil
					}
					return []time.Duration{now + 100*time.Microsecond}
				}
				ranks := newSimRanks(t, net, c.payload)
				sent, data := 0, make([]byte, c.message)
				ranks[0].feed = func(r *simRank) {
					for sent < c.total && r.core.Send(r.peer, reliable.Message{Data: data}, net.Now) < reliable.Full {
						sent += c.message
					}
				}
				for end := time.Second; ranks[1].came < c.total && ranks[0].err == nil && end < time.Minute; end += time.Second {
					net.Run(end)
				}
				if dropped == 0 && hole < 1400 {
					t.Fatalf("hole of %d: nothing fell into it", hole)
				}
				if ranks[1].came != sent || sent < c.total || ranks[0].err != nil || ranks[1].err != nil {
					t.Fatalf("hole of %d: %d bytes of %d came in %v, datagrams of %d now: %v, %v",
						hole, ranks[1].came, c.total, net.Now, ranks[0].mtu, ranks[0].err, ranks[1].err)
				}
			}
		})
	}
}
