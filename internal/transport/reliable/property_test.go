package reliable

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

// mess is a network that loses, repeats, delays, alters and shortens packets, each with a probability.
func mess(w *world, p float64) simlink.Fate {
	return func(_, _ int, packet []byte, now time.Duration) []time.Duration {
		at := now + 100*time.Microsecond
		if w.r.Float64() < p {
			at += time.Duration(w.r.IntN(2_000_000))
		}
		switch x := w.r.Float64(); {
		case x < p:
			return nil
		case x < 1.5*p:
			return []time.Duration{at, at + time.Duration(w.r.IntN(3_000_000))}
		}
		return []time.Duration{at}
	}
}

// job is what a rank sends in a random test, and to whom.
type job struct {
	m    Message
	peer int
}

func jobs(w *world, n *node, count int) (list []job, whole, puts map[uint64]int) {
	whole, puts = map[uint64]int{}, map[uint64]int{}
	for i := range count {
		size := 12 + w.r.IntN(200)
		switch w.r.IntN(8) {
		case 0:
			size = 12 + w.r.IntN(30_000)
		case 1:
			size = 1300 + w.r.IntN(120)
		}
		peer := w.r.IntN(len(w.ranks) - 1)
		if peer >= n.id {
			peer++
		}
		id := uint64(size)<<32 | uint64(n.id)<<24 | uint64(i)
		m := Message{ID: id, Data: payload(id, size), Urgent: w.r.IntN(5) == 0}
		if m.Put = w.r.IntN(4) == 0; m.Put {
			m.Place = id
			puts[id] = peer
		} else {
			whole[id] = peer
		}
		list = append(list, job{m, peer})
	}
	return list, whole, puts
}

// property is a case of TestEverythingArrivesOnce.
type property struct {
	name   string
	cfg    Config
	p      float64
	gather bool
	mtu    bool // changes all the time
}

// TestEverythingArrivesOnce sends messages and puts of all sizes between three ranks over a network that spoils
// packets. It does so across the end of the sequence numbers, also with few rooms and little memory. RELIABLE_SEEDS is
// the number of seeds, one after the other; the default is 1.
func TestEverythingArrivesOnce(t *testing.T) {
	seed, seeds := seedOf(t), 1
	if s := os.Getenv("RELIABLE_SEEDS"); s != "" {
		var err error
		if seeds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	small := Config{Rooms: 2, Queue: 1, MaxMessage: 40_000, Reassembly: 40_000, AckEvery: 1, ResendsPerPass: 1}
	for _, c := range []property{
		{name: "clean"},
		{name: "clean/gather", gather: true},
		{name: "loss=0.1", p: 0.1},
		{name: "loss=0.1/gather", p: 0.1, gather: true},
		{name: "loss=0.1/mtu", p: 0.1, mtu: true},
		{name: "loss=0.1/gather/mtu", p: 0.1, gather: true, mtu: true},
		{name: "loss=0.4", cfg: Config{DeadAfter: time.Hour}, p: 0.4},
		{name: "small", cfg: small, p: 0.1},
		{name: "small/gather/mtu", cfg: small, p: 0.1, gather: true, mtu: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k := range uint64(seeds) {
				if c.holds(t, seed+k); t.Failed() {
					t.Fatalf("with RELIABLE_SEED=%d", seed+k)
				}
			}
		})
	}
}

// traffic is what one rank has sent in the end.
type traffic struct{ whole, puts map[uint64]int }

// holds runs the case with a seed.
func (c *property) holds(t *testing.T, seed uint64) {
	w := newWorld(t, seed, 3, c.cfg, Link{MTU: 1400, SendSeq: math.MaxUint32 - 100})
	w.Fate = mess(w, c.p)
	var want []traffic
	left := 0
	for _, n := range w.ranks {
		list, whole, puts := jobs(w, n, 600)
		want = append(want, traffic{whole, puts})
		left += len(list)
		n.gathers = c.gather
		n.feed = func(n *node) {
			if c.mtu && w.r.IntN(4) == 0 {
				n.resize(w.r)
			}
			k := n.sendAll(list)
			left -= k
			list = list[k:]
		}
	}
	w.Run(10 * time.Minute)
	w.check(t)
	if left > 0 {
		t.Errorf("%d messages were not taken", left)
	}
	if got := w.ranks[0].pieces > 0; got != c.gather {
		t.Errorf("rank 0 gathered %d pieces", w.ranks[0].pieces)
	}
	for i, x := range want {
		w.came(t, i, x)
	}
	for _, n := range w.ranks {
		n.keepsNothing(t)
	}
}

// sendAll sends from the front of list what is taken, and returns how much.
func (n *node) sendAll(list []job) int {
	for i, j := range list {
		switch st := n.e.Send(j.peer, j.m, n.w.Now); st {
		case Full:
			return i
		case Copied:
			clear(j.m.Data) // it was copied
			n.ended[j.m.ID] = nil
		case Taken:
			n.owned[j.m.ID] = j.m.Data
		default:
			n.fault("send: %v", st)
			return i
		}
	}
	return len(list)
}

// came checks that all that rank i has sent has arrived, and once.
func (w *world) came(t *testing.T, i int, x traffic) {
	t.Helper()
	if n := w.ranks[i]; len(n.ended) != len(x.whole)+len(x.puts) {
		t.Errorf("rank %d: %d messages ended of %d", i, len(n.ended), len(x.whole)+len(x.puts))
	}
	for id, peer := range x.whole {
		if w.ranks[peer].got[id] != 1 {
			t.Errorf("message %d from %d to %d came %d times", id, i, peer, w.ranks[peer].got[id])
			return
		}
	}
	for id, peer := range x.puts {
		if p := w.ranks[peer].puts[id]; p == nil || !p.complete() {
			t.Errorf("put %d from %d to %d is not complete", id, i, peer)
			return
		}
	}
}

// keepsNothing checks a rank whose messages have all arrived.
func (n *node) keepsNothing(t *testing.T) {
	t.Helper()
	for _, p := range n.e.all {
		if p.stats.Refused > 0 || p.begun != 0 || p.begins != 0 {
			t.Errorf("rank %d refused %d chunks of %d; %d bytes begun", n.id, p.stats.Refused, p.id, p.begun)
		}
		if p.flight != 0 || p.hotel.guests != 0 || p.held != 0 || p.parted != 0 || p.resends.n != 0 || p.next != p.oldest {
			t.Errorf("rank %d keeps something for %d: %+v", n.id, p.id, n.e.Stats(p.id))
		}
	}
}

// resize changes the greatest packet of a pair, mostly for the least or for a great one.
func (n *node) resize(r *rand.Rand) {
	mtu := []int{MinMTU, MinMTU + r.IntN(1000), 1400, 9000, MaxMTU}[r.IntN(5)]
	peer := r.IntN(len(n.w.ranks))
	if err := n.e.SetMTU(peer, mtu); (err != nil) != (peer == n.id) {
		n.fault("SetMTU of peer %d to %d: %v", peer, mtu, err)
	}
}

// TestPutsAreChecked has the check of puts find fault with bytes that are wrong, come twice or lie outside.
func TestPutsAreChecked(t *testing.T) {
	want := payload(5, 100)
	p := &put{want: want, came: make([]byte, len(want))}
	wrong := bytes.Clone(want[:60])
	wrong[59]++
	for i, c := range []struct {
		offset uint64
		piece  []byte
		ok     bool
	}{
		{0, wrong, false},
		{0, want[:60], true},
		{59, want[59:], false},
		{60, append(bytes.Clone(want[60:]), 0), false},
		{math.MaxUint64, want[:1], false},
		{61, want[61:], true},
	} {
		if ok := p.take(c.offset, c.piece); ok != c.ok || p.complete() {
			t.Errorf("piece %d: %v, want %v; complete %v", i, ok, c.ok, p.complete())
		}
	}
	if !p.take(60, want[60:61]) || !p.complete() {
		t.Error("with the last byte the put is not complete")
	}
}

// TestSpoiltPacketsDoNoHarm gives an endpoint packets that were altered or cut short, as a peer might send that means
// harm: it may deliver nonsense, but must stay within its memory, and live.
func TestSpoiltPacketsDoNoHarm(t *testing.T) {
	seed := seedOf(t)
	w := newWorld(t, seed, 2, Config{MaxMessage: 1 << 16, Reassembly: 1 << 17}, Link{MTU: 1400})
	honest := mess(w, 0.05)
	w.Fate = func(src, dst int, packet []byte, now time.Duration) []time.Duration {
		switch w.r.IntN(10) {
		case 0:
			packet[w.r.IntN(len(packet))] ^= 1 << w.r.IntN(8)
		case 1:
			packet = packet[:w.r.IntN(len(packet))]
			w.ranks[dst].e.Incoming(src, packet, now)
			return nil
		}
		return honest(src, dst, packet, now)
	}
	w.ranks[0].count, w.ranks[1].count = true, true
	data := make([]byte, 20_000)
	w.ranks[0].feed = func(n *node) {
		for n.e.Send(1, Message{Data: data[:w.r.IntN(len(data))]}, w.Now) < Full {
		}
	}
	for end := time.Millisecond; end < 500*time.Millisecond; end += time.Millisecond {
		w.Run(end)
		if p := w.ranks[1].e.peers.peerAt(0); p != nil && p.held > 1<<17 {
			t.Fatalf("%d bytes held, the limit is %d", p.held, 1<<17)
		}
	}
	if s := w.ranks[1].e.Stats(0); s.Malformed == 0 || s.Received == 0 {
		t.Errorf("nothing was tested: %+v", s)
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	b := make([]byte, headerSize+16+3)
	for _, h := range []header{
		{flags: flagSegment | flagPriority, words: 2, first: 62, seq: 1 << 31, ack: math.MaxUint32, delay: 7, size: 3},
		{flags: flagAnswer, words: 2, ack: 3},
	} {
		c := b[:headerSize+16+int(h.size)]
		h.putHeader(c)
		got, sack, body, ok := parse(c)
		if !ok || got != h || len(sack) != 16 || len(body) != int(h.size) {
			t.Errorf("%+v became %+v, %v", h, got, ok)
		}
		for k := range c {
			if _, _, _, ok := parse(c[:k]); ok {
				t.Errorf("%+v was taken though cut to %d bytes", h, k)
			}
		}
	}
}

// TestHotel compares the hotel with a list.
func TestHotel(t *testing.T) {
	seed := seedOf(t)
	r := newWorld(t, seed, 1, Config{}, Link{}).r
	h := newHotel(8)
	var floors [channels][]*segment
	for i := range 10_000 {
		ch := Channel(r.IntN(int(channels)))
		if r.IntN(2) == 0 && h.guests < h.most {
			s := &segment{room: none}
			h.checkIn(s, ch, time.Duration(i))
			floors[ch] = append(floors[ch], s)
		} else if k := len(floors[ch]); k > 0 {
			j := r.IntN(k)
			h.checkOut(floors[ch][j])
			h.checkOut(floors[ch][j]) // does nothing
			floors[ch] = append(floors[ch][:j], floors[ch][j+1:]...)
		}
		if h.guests != len(floors[0])+len(floors[1]) || len(h.rooms) > 8 {
			t.Fatalf("step %d: %d guests, %d rooms", i, h.guests, len(h.rooms))
		}
		for ch := range channels {
			if s := h.firstGuest(ch); len(floors[ch]) > 0 && s != floors[ch][0] || len(floors[ch]) == 0 && s != nil {
				t.Fatalf("step %d: wrong head on floor %d", i, ch)
			}
		}
	}
}
