package am

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/udp/seal"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// wordless hides the credit words of a conduit.
type wordless struct{ conduit.Conduit }

func (wordless) Mine(int) *atomic.Uint64   { return nil }
func (wordless) Theirs(int) *atomic.Uint64 { return nil }

// bare hides the bulk channel too.
type bare struct{ wordless }

func (b bare) BulkSend(int, uint64, int64, []byte, conduit.Completion) (int, bool) { return 0, false }

func (b bare) Caps() conduit.Caps {
	c := b.Conduit.Caps()
	c.BulkChunk, c.BulkSlots = 0, 0
	return c
}

// variant is a kind of conduit to run a test over.
type variant struct {
	name string
	cfg  conduit.Config
	bare bool
	// make makes the conduits of n ranks; nil for local ones by cfg.
	make func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit
}

var variants = []variant{
	{name: "words"},
	{name: "bare", bare: true},
	{name: "tiny", cfg: conduit.Config{TinyQueues: true}},
	{name: "bare,tiny", cfg: conduit.Config{TinyQueues: true}, bare: true},
	{name: "mail", cfg: conduit.Config{ScanLimit: -1}},
	{name: "mixed", make: mixedBare},
	{name: "mixed,tiny", cfg: conduit.Config{TinyQueues: true}, make: mixedBare},
	{name: "udp", make: udptest.Job{}.Open},
	{name: "udp,bad", make: badNetwork.Open},
	{name: "udp,bad,tiny", cfg: conduit.Config{TinyQueues: true}, make: badNetwork.Open},
}

// badNetwork has datagrams of usual size on a network that loses, doubles and reorders them.
var badNetwork = udptest.Job{Mode: seal.Trust, Faults: udptest.Bad, MinRTO: udptest.BadMinRTO, Payload: 1400}

// mixedBare joins even ranks among each other with words, odd ones too, and the two kinds without.
func mixedBare(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	return mixedtest.Local(t, n, cfg, mixedtest.Parity, func(c conduit.Conduit) conduit.Conduit { return bare{wordless{c}} })
}

func (v *variant) conduits(t testing.TB, n int) []conduit.Conduit {
	t.Helper()
	if v.make != nil {
		return v.make(t, n, v.cfg)
	}
	cs, err := local.New(n, v.cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cs {
		if v.bare {
			cs[i] = bare{wordless{c}}
		}
	}
	return cs
}

func overAll(t *testing.T, f func(t *testing.T, v variant)) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}

// endpoints makes n endpoints and polls them all until the test ends, so that sends and replies move.
func endpoints(t testing.TB, n int, v variant, cfg Config) []*Endpoint {
	t.Helper()
	cs := v.conduits(t, n)
	if cfg.Fatal == nil {
		cfg.Fatal = func(err error) { t.Errorf("fatal: %v", err) }
	}
	if runtime.GOMAXPROCS(0) == 1 { // package rank does the same; who spins or sleeps holds the others up, 10 ms each time
		cfg.Progress.Crowded, cfg.Progress.Share = true, runtime.Gosched
	}
	es := make([]*Endpoint, n)
	for i, c := range cs {
		var err error
		if es[i], err = New(c, cfg); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for i, e := range es {
			e.Close()
			if err := cs[i].Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return es
}

// attend polls es in the background until stop is called.
func attend(es ...*Endpoint) (stop func()) {
	var quit atomic.Bool
	var wg sync.WaitGroup
	for _, e := range es {
		wg.Go(func() { e.Progress().Serve(quit.Load) })
	}
	return func() {
		quit.Store(true)
		for _, e := range es {
			e.Progress().Wake()
		}
		wg.Wait()
	}
}

func register(t testing.TB, es []*Endpoint, index uint8, s Spec) {
	t.Helper()
	for _, e := range es {
		if err := e.Register(index, s); err != nil {
			t.Fatal(err)
		}
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// sum covers arguments and payload of a message.
func sum(args []uint64, payload []byte) uint64 {
	h := crc32.NewIEEE()
	for _, a := range args {
		h.Write(binary.LittleEndian.AppendUint64(nil, a))
	}
	h.Write(payload)
	return uint64(h.Sum32())
}

func fill(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + seed)
	}
	return b
}

// arguments are n arguments of which all bits matter.
func arguments(n int, flip uint64) []uint64 {
	a := make([]uint64, n)
	for i := range a {
		a[i] = (uint64(n)<<56 | uint64(i)<<48 | 0x8000_ffff_0001) ^ flip
	}
	return a
}

// TestEveryArgumentCountAndSize sends each number of arguments by Short, Medium and Long requests, by Medium with
// payloads of many sizes up to the largest. Each is echoed by a reply of its kind, which has other arguments. The Longs
// are split, there and back.
func TestEveryArgumentCountAndSize(t *testing.T) {
	overAll(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{})
		const hShort, hMedium, hLong, hBack = 1, 2, 3, 4
		max := es[0].MaxMedium()
		long := max + 1000
		for _, e := range es {
			e.SetSegment(make([]byte, (MaxArgs+1)*long))
		}
		var got, bytes atomic.Int64 // of replies
		check := func(a []uint64, p []byte, flip uint64) {
			if !slices.Equal(a, arguments(len(a), flip)) || !slices.Equal(p, fill(len(p), len(a))) {
				t.Errorf("damaged: arguments %#x, %d bytes", a, len(p))
			}
		}
		echo := func(h uint8, maxReply int, reply func(tok *Token, p []byte, a ...uint64) error) {
			register(t, es, h, Spec{Name: "echo", MaxReply: maxReply, Run: func(tok *Token, a []uint64, p []byte) {
				check(a, p, 0)
				if err := reply(tok, p, arguments(len(a), ^uint64(0))...); err != nil {
					t.Error(err)
				}
			}})
		}
		echo(hShort, 0, func(tok *Token, _ []byte, a ...uint64) error { return tok.ReplyShort(hBack, a...) })
		echo(hMedium, max, func(tok *Token, p []byte, a ...uint64) error { return tok.ReplyMedium(hBack, p, a...) })
		echo(hLong, max, func(tok *Token, p []byte, a ...uint64) error {
			return tok.ReplyLong(hBack, p, int64(len(a)*long), a...)
		})
		register(t, es, hBack, Spec{Name: "back", MaxReply: NoReply, Run: func(_ *Token, a []uint64, p []byte) {
			check(a, p, ^uint64(0))
			bytes.Add(int64(len(p)))
			got.Add(1)
		}})
		defer attend(es...)()
		sent, size := int64(0), int64(0)
		for n := range MaxArgs + 1 {
			args := arguments(n, 0)
			errs := []error{
				es[0].RequestShort(1, hShort, args...),
				es[0].RequestLong(1, hLong, fill(long, n), int64(n*long), args...),
			}
			size += int64(long)
			for _, most := range []int{0, 1, 7, 8, 255, 256, 257, 512, 1000, 4096, max - 1, max} {
				if most <= max {
					errs = append(errs, es[0].RequestMedium(1, hMedium, fill(most, n), args...))
					size += int64(most)
				}
			}
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			sent += int64(len(errs))
		}
		eventually(t, "replies", func() bool { return got.Load() == sent })
		if bytes.Load() != size {
			t.Errorf("%d bytes came back of %d", bytes.Load(), size)
		}
	})
}

// TestFloodToASleepingRank: many goroutines flood a rank that does not poll for a while. Nothing is lost or doubled,
// and order within a sender stays. Senders wait instead of using memory.
func TestFloodToASleepingRank(t *testing.T) {
	overAll(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{})
		const senders = 16
		each := 300
		ordered := es[0].Conduit().Caps().Ordered
		if invariants.Race || testing.Short() && !ordered {
			each = 60
		}
		if !ordered && v.cfg.TinyQueues {
			each = 20 // what is lost is seen late where little is under way
		}
		next := make([]uint64, senders)
		seen := map[[2]uint64]bool{}
		var total atomic.Int64
		wrong := ""
		register(t, es, 1, Spec{Name: "count", MaxReply: NoReply, Run: func(_ *Token, a []uint64, p []byte) {
			who := [2]uint64{a[0], a[1]}
			if (ordered && next[a[0]] != a[1] || seen[who] || int(a[2]) != len(p)) && wrong == "" {
				wrong = fmt.Sprintf("sender %d: %d after %d", a[0], a[1], next[a[0]])
			}
			seen[who] = true
			next[a[0]]++
			total.Add(1)
		}})
		stop := attend(es[0])
		defer stop()
		var wg sync.WaitGroup
		var sent atomic.Int64
		var through atomic.Int32 // senders whose last request has gone out
		for i := range senders {
			wg.Go(func() {
				defer through.Add(1)
				for k := range each {
					p := fill(k*13%es[0].MaxMedium(), k)
					if err := es[0].RequestMedium(1, 1, p, uint64(i), uint64(k), uint64(len(p))); err != nil {
						t.Error(err)
						return
					}
					sent.Add(1)
				}
			})
		}
		eventually(t, "senders that all wait", func() bool {
			n := queuedTo(es[0], 1)
			return n > 0 && n+int(through.Load()) == senders
		})
		if n := sent.Load(); n > int64(es[0].terms.PerPeer) {
			t.Errorf("%d requests went out to a rank that does not poll", n)
		}
		stop1 := attend(es[1])
		wg.Wait()
		eventually(t, "the flood", func() bool { return total.Load() >= int64(senders*each) })
		stop1()
		for range senders { // what comes twice
			es[0].Poll()
			es[1].Poll()
		}
		if n := total.Load(); n != int64(senders*each) || wrong != "" {
			t.Fatalf("%d of %d arrived; %s", n, senders*each, wrong)
		}
	})
}

// queuedTo counts the requests of e that are queued for peer.
func queuedTo(e *Endpoint, peer int) (n int) {
	ln := e.senderOf(peer)
	ln.mu.Lock()
	defer ln.mu.Unlock()
	for x := ln.normal.head; x != nil; x = *x.Next() {
		n++
	}
	return n
}

func TestReplyRules(t *testing.T) {
	es := endpoints(t, 2, variants[0], Config{})
	type result struct {
		what string
		err  error
	}
	var mu sync.Mutex
	var results []result
	note := func(what string, err error) {
		mu.Lock()
		results = append(results, result{what, err})
		mu.Unlock()
	}
	var ended atomic.Int32
	register(t, es, 2, Spec{Name: "reply handler", MaxReply: NoReply, Run: func(tok *Token, _ []uint64, _ []byte) {
		note("reply to a reply", tok.ReplyShort(2))
		ended.Add(1)
	}})
	register(t, es, 1, Spec{Name: "may reply", MaxReply: 8, Run: func(tok *Token, _ []uint64, _ []byte) {
		note("reply to no handler", tok.ReplyShort(77))
		note("reply too large", tok.ReplyMedium(2, make([]byte, 9)))
		if err := tok.ReplyShort(2); err != nil {
			t.Error(err)
		}
		note("second reply", tok.ReplyShort(2))
		ended.Add(1)
	}})
	register(t, es, 3, Spec{Name: "may not", MaxReply: NoReply, Run: func(tok *Token, _ []uint64, _ []byte) {
		note("reply that was not announced", tok.ReplyShort(2))
		ended.Add(1)
	}})
	register(t, es, 4, Spec{Name: "does not", MaxReply: 0, Run: func(*Token, []uint64, []byte) { ended.Add(1) }})
	defer attend(es...)()
	for _, h := range []uint8{1, 3, 4} {
		if err := es[0].RequestShort(1, h); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "handlers", func() bool { return ended.Load() == 4 })
	// The reply that was not given must still free the space reserved for it.
	for range 2000 {
		if err := es[0].RequestShort(1, 4); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(results) != 5 {
		t.Fatalf("results %v", results)
	}
	for _, r := range results {
		if !errors.Is(r.err, ErrReply) && !errors.Is(r.err, ErrSize) && !errors.Is(r.err, ErrHandler) {
			t.Errorf("%s: %v", r.what, r.err)
		}
	}
}

func TestLong(t *testing.T) {
	overAll(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{})
		seg := make([]byte, 4<<20)
		es[1].SetSegment(seg)
		var got, bad atomic.Int64
		register(t, es, 1, Spec{Name: "long", MaxReply: 0, Run: func(tok *Token, a []uint64, p []byte) {
			if int(a[0]) != len(p) || sum(nil, p) != a[1] || (len(p) > 0 && &p[0] != &seg[a[2]]) {
				bad.Add(1)
			}
			if err := tok.ReplyShort(2, a[0]); err != nil {
				bad.Add(1)
			}
		}})
		register(t, es, 2, Spec{Name: "done", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { got.Add(1) }})
		defer attend(es...)()
		sizes := []int{0, 1, 100, 4096, es[0].MaxMedium() - 8, es[0].MaxMedium(), 64 << 10, 1 << 20}
		off := int64(3)
		var wg sync.WaitGroup
		for i, n := range sizes {
			p := fill(n, i)
			at := off
			wg.Go(func() {
				if err := es[0].RequestLong(1, 1, p, at, uint64(n), sum(nil, p), uint64(at)); err != nil {
					t.Error(err)
				}
			})
			off += int64(n) + 5
		}
		wg.Wait()
		eventually(t, "replies", func() bool { return got.Load() == int64(len(sizes)) })
		if bad.Load() != 0 {
			t.Fatalf("%d Longs arrived damaged", bad.Load())
		}
		halvesLeft(t, es[1])
	})
}

// halvesLeft: no half of a Long waits for the other.
func halvesLeft(t *testing.T, es ...*Endpoint) {
	t.Helper()
	for i, e := range es {
		e.AsPoller(func() {
			if n := len(e.recv.longs); n != 0 {
				t.Errorf("endpoint %d: %d halves of Longs are left", i, n)
			}
		})
	}
}

func TestBadRequests(t *testing.T) {
	es := endpoints(t, 2, variants[0], Config{})
	register(t, es, 1, Spec{Name: "h", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {}})
	e := es[0]
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"rank 2", e.RequestShort(2, 1), ErrRank},
		{"rank -1", e.RequestShort(-1, 1), ErrRank},
		{"handler 9", e.RequestShort(1, 9), ErrHandler},
		{"17 arguments", e.RequestShort(1, 1, make([]uint64, 17)...), ErrSize},
		{"payload too large", e.RequestMedium(1, 1, make([]byte, e.MaxMedium()+1)), ErrSize},
		{"negative offset", e.RequestLong(1, 1, nil, -1), ErrSize},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", c.what, c.err)
		}
	}
	if err := e.Register(1, Spec{Run: func(*Token, []uint64, []byte) {}}); err == nil {
		t.Error("an index was registered twice")
	}
	if err := e.Register(2, Spec{}); err == nil {
		t.Error("a handler without a function was registered")
	}
	e.Close()
	if err := e.RequestShort(1, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestFaultsReachFatal feeds records that no honest peer writes.
func TestFaultsReachFatal(t *testing.T) {
	for _, c := range []struct {
		what  string
		words []uint64
	}{
		{"no second word", []uint64{8}},
		{"more arguments than bytes", []uint64{word0(16, 1, 0, 3), 1}},
		{"unknown handler", []uint64{word0(16, 200, 0, 0), 1}},
		{"wrong cost", []uint64{word0(16, 1, 0, 0), 9}},
		{"truncated Long", []uint64{word0(16, 1, flagLong|flagMedium, 0), 1}},
		{"negative size of a Long", []uint64{word0(40, 1, flagLong|flagSplit, 0), 1, 5, math.MaxUint64, 0}},
	} {
		t.Run(c.what, func(t *testing.T) {
			var faults []error
			es := endpoints(t, 2, variants[0], Config{Fatal: func(err error) { faults = append(faults, err) }})
			register(t, es, 1, Spec{Name: "h", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { t.Error("handler ran") }})
			es[1].SetSegment(make([]byte, 100))
			rec, st := es[0].c.Reserve(1, conduit.Request, 8*len(c.words))
			if st != conduit.OK {
				t.Fatal(st)
			}
			for i, w := range c.words[1:] {
				binary.LittleEndian.PutUint64(rec[8*(i+1):], w)
			}
			es[0].c.Commit(1, c.words[0])
			for range 10 {
				es[1].Poll()
			}
			if len(faults) != 1 || !strings.Contains(faults[0].Error(), "rank 0") || es[1].Err() == nil {
				t.Fatalf("faults %v", faults)
			}
		})
	}
}

func TestPeerThatCloses(t *testing.T) {
	es := endpoints(t, 2, variants[0], Config{Loan: 2})
	register(t, es, 1, Spec{Name: "h", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {}})
	errs := make(chan error, 4)
	for range 4 { // two fit, two wait
		go func() { errs <- es[0].RequestShort(1, 1) }()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if err := es[1].c.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-errs; !errors.Is(err, ErrPeer) {
			t.Fatalf("queued request: %v", err)
		}
	}
	if err := es[0].RequestShort(1, 1); !errors.Is(err, ErrPeer) {
		t.Fatalf("later request: %v", err)
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	es := endpoints(t, 2, variants[0], Config{})
	n := 0
	register(t, es, 1, Spec{Name: "h", MaxReply: 0, Run: func(tok *Token, _ []uint64, _ []byte) { _ = tok.ReplyShort(2) }})
	register(t, es, 2, Spec{Name: "r", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { n++ }})
	p := make([]byte, 64)
	if avg := testing.AllocsPerRun(1000, func() {
		if es[0].RequestMedium(1, 1, p, 1, 2) != nil || es[0].RequestShort(1, 1, 3) != nil {
			t.Error("request failed")
		}
		es[1].Poll()
		es[0].Poll()
	}); avg != 0 {
		t.Errorf("%v allocations a round", avg)
	}
	if n < 2000 {
		t.Errorf("%d replies", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{16, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, rec []byte) {
		h, ok := parseHeader(rec)
		if !ok {
			return
		}
		if h.length() > len(rec) || headerBytes+h.nargs()*argBytes > h.length() || h.nargs() > MaxArgs {
			t.Fatalf("accepted %+v of %d bytes", h, len(rec))
		}
		if h.cost() > credit.MaxCost {
			t.Fatalf("cost %d", h.cost())
		}
	})
}

// BenchmarkShort is a round trip of a Short request and its reply, both ends polled by one goroutine: the instructions
// without the crossing.
func BenchmarkShort(b *testing.B) {
	es := endpoints(b, 2, variants[0], Config{})
	register(b, es, 1, Spec{Name: "h", MaxReply: 0, Run: func(tok *Token, _ []uint64, _ []byte) { _ = tok.ReplyShort(2) }})
	register(b, es, 2, Spec{Name: "r", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {}})
	b.ReportAllocs()
	for range b.N {
		_ = es[0].RequestShort(1, 1)
		es[1].Poll()
		es[0].Poll()
	}
}
