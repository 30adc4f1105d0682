package reliable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/simlink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seedOf prints the seed of a randomised test; RELIABLE_SEED replays one.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RELIABLE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("RELIABLE_SEED=%d", seed)
	return seed
}

// world is a number of ranks and the network between them.
type world struct {
	simlink.Net
	r     *rand.Rand
	ranks []*node
	lost  uint64 // bytes of segments' bodies
}

// node is one rank: its endpoint, what it got, and its way out.
type node struct {
	w       *world
	id      int
	e       *Endpoint
	scratch []byte
	numbers map[int]uint64
	bytes   map[int]int // delivered, by source
	got     map[uint64]int
	puts    map[uint64]*put
	ended   map[uint64]error
	ends    int
	died    []int
	last    error // of which a peer has died
	err     error
	feed    func(n *node) // sends what there is to send
	gathers bool          // is a Gather
	late    []late
	pieces  int               // that a gatherer was given
	owned   map[uint64][]byte // data of messages that were taken, spoilt when they end
	count   bool              // only count what arrives
	sends   func(peer int, number uint64)
	back    []comeback // packets that come back, in order
}

func newWorld(t testing.TB, seed uint64, ranks int, cfg Config, l Link) *world {
	t.Helper()
	w := &world{r: rand.New(rand.NewPCG(seed, 1))}
	for range ranks {
		n := &node{
			w: w, scratch: make([]byte, MaxMTU), numbers: map[int]uint64{}, bytes: map[int]int{},
			got: map[uint64]int{}, puts: map[uint64]*put{}, ended: map[uint64]error{}, owned: map[uint64][]byte{},
		}
		cfg.Sink = n
		var err error
		if n.e, err = New(cfg); err != nil {
			t.Fatal(err)
		}
		n.id = w.Join(n)
		w.ranks = append(w.ranks, n)
	}
	for i, n := range w.ranks {
		for j := range w.ranks {
			if i != j {
				k := Link{MTU: l.MTU, Number: l.Number, SendSeq: l.SendSeq + uint32(i<<8+j), RecvSeq: l.SendSeq + uint32(j<<8+i), Ways: l.Ways}
				if err := n.e.Add(j, k, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return w
}

func (n *node) fault(format string, a ...any) {
	if n.err == nil {
		n.err = fmt.Errorf("rank %d at %v: "+format, append([]any{n.id, n.w.Now}, a...)...)
	}
}

// Room has no byte more than was asked for.
func (n *node) Room(_, size int) []byte { return n.scratch[:size:size] }

func (n *node) Packet(peer int, number uint64, _ Channel, packet []byte) {
	if last, ok := n.numbers[peer]; ok && number <= last {
		n.fault("number %d after %d to %d", number, last, peer)
	}
	n.numbers[peer] = number
	if n.sends != nil {
		n.sends(peer, number)
	}
	if p := n.e.peers.peerAt(peer); p != nil && len(packet) > p.mtu {
		n.fault("a packet of %d bytes to %d, where %d is the most", len(packet), peer, p.mtu)
	}
	if n.w.Send(n.id, peer, packet) == 0 && packet[1]&flagSegment != 0 {
		n.w.lost += uint64(binary.BigEndian.Uint16(packet[14:]))
	}
}

// Incoming takes in a packet of the network.
func (n *node) Incoming(src int, packet []byte, now time.Duration) { n.e.Incoming(src, packet, now) }

// comeback is a packet that comes back.
type comeback struct {
	at     time.Duration
	peer   int
	number uint64
}

// Next is when the endpoint has something to do. A feed is asked whenever anything happens.
func (n *node) Next() time.Duration {
	if len(n.back) > 0 {
		return min(n.back[0].at, n.e.NextTimer())
	}
	return n.e.NextTimer()
}

// Poll sends what there is.
func (n *node) Poll(now time.Duration) {
	for len(n.back) > 0 && n.back[0].at <= now {
		n.e.Refused(n.back[0].peer, 0, n.back[0].number, now)
		n.back = n.back[1:]
	}
	if n.feed != nil {
		n.feed(n)
	}
	n.outgoing(64)
}

// late is a packet that a gatherer has taken.
type late struct {
	peer         int
	number       uint64
	packet, data []byte
}

// gatherer is a node that sends all packets after Outgoing has returned, and then reads the owners' data.
type gatherer struct{ *node }

func (g gatherer) Packet(peer int, number uint64, _ Channel, packet []byte) {
	g.late = append(g.late, late{peer, number, bytes.Clone(packet), nil})
}

func (g gatherer) PacketOf(peer int, number uint64, _ Channel, packet, data []byte) {
	g.pieces++
	g.late = append(g.late, late{peer, number, bytes.Clone(packet), data})
}

// outgoing has a node send.
func (n *node) outgoing(budget int) {
	if !n.gathers {
		n.e.Outgoing(n.w.Now, budget, n)
		return
	}
	n.e.Outgoing(n.w.Now, budget, gatherer{n})
	for _, l := range n.late {
		n.Packet(l.peer, l.number, Data, append(l.packet, l.data...))
	}
	n.late = n.late[:0]
}

// payload is message id with a checksum over all of it; what is between is drawn from the id.
func payload(id uint64, size int) []byte {
	b := make([]byte, max(size, 12))
	binary.LittleEndian.PutUint64(b, id)
	r := rand.NewPCG(id, 1)
	for m := b[8 : len(b)-4]; len(m) > 0; {
		var x [8]byte
		binary.LittleEndian.PutUint64(x[:], r.Uint64())
		m = m[copy(m, x[:]):]
	}
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.ChecksumIEEE(b[:len(b)-4]))
	return b
}

func (n *node) Message(peer int, _ uint8, data []byte) {
	n.bytes[peer] += len(data)
	if n.count {
		return
	}
	if len(data) < 12 || crc32.ChecksumIEEE(data[:len(data)-4]) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		n.fault("a message of %d bytes from %d is not intact", len(data), peer)
		return
	}
	id := binary.LittleEndian.Uint64(data)
	if n.got[id]++; n.got[id] > 1 {
		n.fault("message %d twice", id)
	}
}

func (n *node) Put(peer int, _ uint8, place, offset uint64, piece []byte) {
	n.bytes[peer] += len(piece)
	if n.count {
		return
	}
	p := n.puts[place]
	if p == nil {
		p = &put{want: payload(place, int(place>>32))}
		p.came = make([]byte, len(p.want))
		n.puts[place] = p
	}
	if !p.take(offset, piece) {
		n.fault("a piece of %d bytes at %d of put %d is wrong or there twice", len(piece), offset, place)
	}
}

// put is what has come of one.
type put struct{ want, came []byte } // came: 1 for each byte that has

// take adds a piece; false if it is not what should come there, or some of it was there.
func (p *put) take(offset uint64, piece []byte) bool {
	if offset > uint64(len(p.want)) || uint64(len(piece)) > uint64(len(p.want))-offset {
		return false
	}
	end := int(offset) + len(piece)
	came := p.came[offset:end]
	if !bytes.Equal(p.want[offset:end], piece) || bytes.IndexByte(came, 1) >= 0 {
		return false
	}
	copy(came, bytes.Repeat([]byte{1}, len(came)))
	return true
}

func (p *put) complete() bool { return bytes.IndexByte(p.came, 0) < 0 }

func (n *node) Ended(_ int, id uint64, err error) {
	n.ends++
	if n.count {
		return
	}
	if _, twice := n.ended[id]; twice {
		n.fault("message %d ended twice", id)
	}
	n.ended[id] = err
	clear(n.owned[id])
}

func (n *node) Dead(peer int, err error) {
	n.last = err
	if !errors.Is(err, ErrSilent) && !errors.Is(err, ErrRefused) {
		n.fault("peer %d died of %v", peer, err)
	}
	n.died = append(n.died, peer)
}

func (w *world) check(t testing.TB) {
	t.Helper()
	for _, n := range w.ranks {
		if n.err != nil {
			t.Error(n.err)
		}
	}
}

// through has packets of rank i take links[i], where one in so many is lost besides.
func (w *world) through(loss float64, links ...simlink.Link) {
	w.Fate = func(src, _ int, packet []byte, now time.Duration) []time.Duration {
		at, ok := links[src].Pass(len(packet), now)
		if !ok || loss > 0 && w.r.Float64() < loss {
			return nil
		}
		return []time.Duration{at}
	}
}
