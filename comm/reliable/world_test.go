package reliable

import (
	"bytes"
	"container/heap"
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

// fate is what a network does with a packet: when it arrives, once for each time; never if it is lost.
type fate func(src, dst int, packet []byte, now time.Duration) []time.Duration

// world is a number of ranks and a network in virtual time.
type world struct {
	r     *rand.Rand
	now   time.Duration
	ranks []*node
	away  flights
	spare [][]byte
	fate  fate
	lost  uint64 // bytes of segments' bodies
	order uint64
}

type flight struct {
	at       time.Duration
	order    uint64
	src, dst int
	packet   []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].order < f[j].order
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	o := *f
	x := o[len(o)-1]
	*f = o[:len(o)-1]
	return x
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
	puts    map[uint64][]bool
	ended   map[uint64]error
	ends    int
	died    []int
	err     error
	feed    func(n *node) // sends what there is to send
	gathers bool          // is a Gather
	late    []late
	pieces  int               // that a gatherer was given
	owned   map[uint64][]byte // data of messages that were taken, spoilt when they end
	count   bool              // only count what arrives
}

func newWorld(t testing.TB, seed uint64, ranks int, cfg Config, l Link) *world {
	t.Helper()
	w := &world{r: rand.New(rand.NewPCG(seed, 1))}
	for i := range ranks {
		n := &node{
			w: w, id: i, scratch: make([]byte, MaxMTU), numbers: map[int]uint64{}, bytes: map[int]int{},
			got: map[uint64]int{}, puts: map[uint64][]bool{}, ended: map[uint64]error{}, owned: map[uint64][]byte{},
		}
		cfg.Sink = n
		var err error
		if n.e, err = New(cfg); err != nil {
			t.Fatal(err)
		}
		w.ranks = append(w.ranks, n)
	}
	for i, n := range w.ranks {
		for j := range w.ranks {
			if i != j {
				k := Link{MTU: l.MTU, Number: l.Number, SendSeq: l.SendSeq + uint32(i<<8+j), RecvSeq: l.SendSeq + uint32(j<<8+i)}
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
		n.err = fmt.Errorf("rank %d at %v: "+format, append([]any{n.id, n.w.now}, a...)...)
	}
}

// Room has no byte more than was asked for.
func (n *node) Room(_, size int) []byte { return n.scratch[:size:size] }

func (n *node) Packet(peer int, number uint64, _ Channel, packet []byte) {
	if last, ok := n.numbers[peer]; ok && number <= last {
		n.fault("number %d after %d to %d", number, last, peer)
	}
	n.numbers[peer] = number
	if p := n.e.peers.get(peer); p != nil && len(packet) > p.mtu {
		n.fault("a packet of %d bytes to %d, where %d is the most", len(packet), peer, p.mtu)
	}
	at := n.w.fate(n.id, peer, packet, n.w.now)
	if len(at) == 0 && packet[1]&flagSegment != 0 {
		n.w.lost += uint64(binary.BigEndian.Uint16(packet[14:]))
	}
	for _, t := range at {
		n.w.order++
		heap.Push(&n.w.away, flight{at: t, order: n.w.order, src: n.id, dst: peer, packet: n.w.copy(packet)})
	}
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
		n.e.Outgoing(n.w.now, budget, n)
		return
	}
	n.e.Outgoing(n.w.now, budget, gatherer{n})
	for _, l := range n.late {
		n.Packet(l.peer, l.number, Data, append(l.packet, l.data...))
	}
	n.late = n.late[:0]
}

func (w *world) copy(b []byte) []byte {
	if k := len(w.spare); k > 0 {
		c := w.spare[k-1]
		w.spare = w.spare[:k-1]
		return append(c[:0], b...)
	}
	return append(make([]byte, 0, 9000), b...)
}

// payload is message id with a checksum over all of it; what is between is drawn from the id.
func payload(id uint64, size int) []byte {
	b := make([]byte, max(size, 12))
	binary.LittleEndian.PutUint64(b, id)
	r := rand.New(rand.NewPCG(id, 7))
	for i := 8; i < len(b)-4; i++ {
		b[i] = byte(r.Uint32())
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
	want := payload(place, int(place>>32))
	if n.puts[place] == nil {
		n.puts[place] = make([]bool, len(want))
	}
	for i, c := range piece {
		k := int(offset) + i
		if k >= len(want) || want[k] != c || n.puts[place][k] {
			n.fault("byte %d of put %d is wrong or there twice", k, place)
			return
		}
		n.puts[place][k] = true
	}
}

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
	if !errors.Is(err, ErrSilent) {
		n.fault("peer %d died of %v", peer, err)
	}
	n.died = append(n.died, peer)
}

// step goes to the next thing that happens, at most to end; it tells whether there was one.
func (w *world) step(end time.Duration) bool {
	next := end
	if len(w.away) > 0 {
		next = min(next, w.away[0].at)
	}
	for _, n := range w.ranks {
		next = min(next, n.e.NextTimer())
	}
	w.now = max(w.now, next)
	if w.now >= end {
		return false
	}
	for len(w.away) > 0 && w.away[0].at <= w.now {
		f := heap.Pop(&w.away).(flight)
		w.ranks[f.dst].e.Incoming(f.src, f.packet, w.now)
		w.spare = append(w.spare, f.packet)
	}
	w.poll()
	return true
}

// poll has each rank send.
func (w *world) poll() {
	for _, n := range w.ranks {
		if n.feed != nil {
			n.feed(n)
		}
		n.outgoing(64)
	}
}

func (w *world) run(end time.Duration) {
	w.poll()
	for w.step(end) {
	}
}

func (w *world) check(t testing.TB) {
	t.Helper()
	for _, n := range w.ranks {
		if n.err != nil {
			t.Error(n.err)
		}
	}
}

// pipe is a bottleneck: so many bytes a second, a queue of so many bytes, and a delay.
type pipe struct {
	rate  float64
	queue int
	delay time.Duration
	free  time.Duration
}

func (p *pipe) pass(size int, now time.Duration) (time.Duration, bool) {
	p.free = max(p.free, now)
	if float64(p.free-now)/1e9*p.rate > float64(p.queue) {
		return 0, false
	}
	p.free += time.Duration(float64(size+66) / p.rate * 1e9)
	return p.free + p.delay, true
}
