package comm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/transport/local"
)

const (
	firstCtx  = FirstAsserted + 2
	firstSize = 3 * DefaultEager
)

// far is a conduit whose ranks no ring joins, as far as it tells.
type far struct{ conduit.Conduit }

func (far) Mine(int) *atomic.Uint64   { return nil }
func (far) Theirs(int) *atomic.Uint64 { return nil }

// firstJob is a job of two whose context firstCtx has all promises.
func firstJob(t testing.TB, cs []conduit.Conduit, more Assert, below ...func(*am.Config)) job {
	t.Helper()
	for i := range cs {
		cs[i] = far{cs[i]}
	}
	j := jobOver(t, cs, Config{}, below...)
	for _, s := range j {
		s.Assert(firstCtx, firstNeeds|more)
	}
	return j
}

// handled counts the records of each handler that a rank gets.
type handled struct {
	conduit.Conduit
	sink conduit.Sink
	n    [256]int
}

func (h *handled) Poll(budget int, sink conduit.Sink) int {
	h.sink = sink
	return h.Conduit.Poll(budget, h)
}

func (h *handled) Record(src int, rec []byte) {
	h.n[rec[4]]++
	h.sink.Record(src, rec)
}

func (h *handled) Bulk(src int, id uint64, off int64, chunk []byte) { h.sink.Bulk(src, id, off, chunk) }
func (h *handled) Gone(peer int, err error)                         { h.sink.Gone(peer, err) }

func counting(cs []conduit.Conduit) (counts []*handled) {
	for i, c := range cs {
		h := &handled{Conduit: c}
		cs[i] = h
		counts = append(counts, h)
	}
	return counts
}

// settle polls all ranks until the requests are done.
func (j job) settle(t testing.TB, rs ...Req) {
	t.Helper()
	for end := time.Now().Add(8 * time.Second); !ready(rs, true); {
		if time.Now().After(end) {
			for _, s := range j {
				logPending(t, s)
			}
			t.Fatal("an operation does not end")
		}
		j.polls(1)
	}
}

func (j job) polls(n int) {
	for range n {
		for _, s := range j {
			s.Poll()
		}
	}
}

func mustReq(t testing.TB) func(Req, error) Req {
	return func(r Req, err error) Req {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// TestReceiverFirst: a large receive that is posted first takes one record and the bytes; a send that is first adds its
// envelope, and the RTR is the answer.
func TestReceiverFirst(t *testing.T) {
	for name, want := range map[string]map[int]int{
		"receive first": {handlerRTR: 1},
		"send first":    {handlerRTS: 1, handlerCTS: 1},
		"at once":       {handlerRTR: 1, handlerRTS: 1},
	} {
		t.Run(name, func(t *testing.T) {
			cs := made(t)(local.New(2, conduit.Config{}))
			counts := counting(cs)
			j := firstJob(t, cs, 0)
			for i := range 3 {
				out, in := make([]byte, firstSize), make([]byte, firstSize)
				pattern(out, i)
				var s, r Req
				send := func() { s = mustReq(t)(j[0].Isend(firstCtx, 1, 5, out, nil)) }
				post := func() { r = mustReq(t)(j[1].Irecv(firstCtx, 0, 5, in, nil)) }
				before := [2][256]int{counts[0].n, counts[1].n}
				switch name {
				case "receive first":
					post()
					j.polls(3)
					send()
				case "send first":
					send()
					j.polls(3)
					want[handlerCTS] = counts[0].n[handlerCTS] - before[0][handlerCTS] // where memory is out of reach
					post()
				default:
					send()
					post()
				}
				j.settle(t, s, r)
				j.polls(3)
				if st, err := j[1].Wait(r); err != nil || st != (Status{Source: 0, Tag: 5, Bytes: firstSize}) {
					t.Errorf("%+v, %v", st, err)
				}
				if _, err := j[0].Wait(s); err != nil {
					t.Error(err)
				}
				if err := checkPattern(in, i); err != nil {
					t.Error(err)
				}
				for _, h := range []int{handlerRTR, handlerRTS} {
					got := counts[0].n[h] - before[0][h] + counts[1].n[h] - before[1][h]
					if got != want[h] {
						t.Errorf("message %d: %d records of handler %d, want %d", i, got, h, want[h])
					}
				}
				if name != "send first" && counts[0].n[handlerCTS]+counts[0].n[handlerGo]+counts[1].n[handlerCopied] != 0 {
					t.Errorf("message %d: an answer beside the RTR", i)
				}
			}
		})
	}
}

// firstWalk drives two ranks through random operations under a few keys and checks that what was not called back is
// matched in order.
type firstWalk struct {
	t     *testing.T
	j     job
	rng   *rand.Rand
	size  int
	next  byte
	sends map[int][]walked // by tag
	recvs map[int][]walked
}

type walked struct {
	r   Req
	buf []byte
}

func (w *firstWalk) step() {
	tag := w.rng.IntN(3)
	switch w.rng.IntN(12) {
	case 0, 1, 2:
		w.next++
		b := make([]byte, w.size)
		b[0], b[w.size-1] = w.next, w.next
		mode := Mode(w.rng.IntN(2))
		r := mustReq(w.t)(w.j[0].Isend(firstCtx, 1, tag, b, &Options{Form: Nonblocking, Mode: mode}))
		w.sends[tag] = append(w.sends[tag], walked{r: r, buf: b})
	case 3, 4, 5:
		b := make([]byte, w.size)
		w.recvs[tag] = append(w.recvs[tag], walked{r: mustReq(w.t)(w.j[1].Irecv(firstCtx, 0, tag, b, nil)), buf: b})
	case 6:
		w.cancel(w.j[0], w.sends[tag])
	case 7:
		w.cancel(w.j[1], w.recvs[tag])
	case 8:
		if m, _, err := w.j[1].Improbe(firstCtx, 0, tag); err != nil {
			w.t.Fatal(err)
		} else if m != nil {
			b := make([]byte, w.size)
			w.recvs[tag] = append(w.recvs[tag], walked{r: mustReq(w.t)(w.j[1].Imrecv(m, b, nil)), buf: b})
		}
	default:
		w.j[w.rng.IntN(2)].Poll()
	}
}

func (w *firstWalk) cancel(s *Server, list []walked) {
	if len(list) > 0 {
		s.Cancel(list[w.rng.IntN(len(list))].r)
	}
}

// end polls until what can end has ended, and adds what is missing on one side.
func (w *firstWalk) end() {
	w.j.polls(200)
	for tag := range 3 {
		left := func(list []walked) (n int) {
			for _, x := range list {
				if !x.r.Ready() {
					n++
				}
			}
			return n
		}
		for range left(w.sends[tag]) {
			b := make([]byte, w.size)
			w.recvs[tag] = append(w.recvs[tag], walked{r: mustReq(w.t)(w.j[1].Irecv(firstCtx, 0, tag, b, nil)), buf: b})
		}
		for range left(w.recvs[tag]) - left(w.sends[tag]) {
			w.next++
			b := make([]byte, w.size)
			b[0], b[w.size-1] = w.next, w.next
			w.sends[tag] = append(w.sends[tag], walked{r: mustReq(w.t)(w.j[0].Isend(firstCtx, 1, tag, b, nil)), buf: b})
		}
		var all []Req
		for _, x := range append(w.sends[tag], w.recvs[tag]...) {
			all = append(all, x.r)
		}
		w.j.settle(w.t, all...)
		got, want := w.results(w.j[1], w.recvs[tag]), w.results(w.j[0], w.sends[tag])
		if fmt.Sprint(got) != fmt.Sprint(want) {
			w.t.Errorf("tag %d: received %v, sent %v", tag, got, want)
		}
	}
}

// results gives the messages of what was not called back.
func (w *firstWalk) results(s *Server, list []walked) (out []byte) {
	for _, x := range list {
		st, err := s.Wait(x.r)
		switch {
		case err == nil:
			if x.buf[0] != x.buf[w.size-1] {
				w.t.Error("a message is torn")
			}
			out = append(out, x.buf[0])
		case !errors.Is(err, ErrCancelled) || !st.Cancelled:
			w.t.Errorf("%+v, %v", st, err)
		}
	}
	return out
}

// TestFirstRandomly: sends, receives, probes and cancellations, with networks that keep order and that do not.
func TestFirstRandomly(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for i := range fewer(300) {
		cs := made(t)(local.New(2, conduit.Config{TinyQueues: i%3 == 2}))
		if i%2 == 1 {
			for k := range cs {
				cs[k] = &reversed{Conduit: cs[k]}
			}
		}
		w := &firstWalk{
			t: t, j: firstJob(t, cs, Assert(i/2%2)*AllowOvertaking), rng: rand.New(rand.NewPCG(seed, uint64(i))),
			size: firstSize, sends: map[int][]walked{}, recvs: map[int][]walked{},
		}
		for range 60 {
			w.step()
		}
		w.end()
		for _, s := range w.j {
			if n := s.ids.Used(); n != 0 {
				t.Errorf("%d numbers are in use at the end", n)
			}
		}
		if t.Failed() {
			t.Fatalf("run %d", i)
		}
	}
}

// TestFirstInThreads: threads of two ranks exchange large and small messages under keys of their own.
func TestFirstInThreads(t *testing.T) {
	j := firstJob(t, made(t)(local.New(2, conduit.Config{})), 0)
	j.run(t, func(s *Server) error {
		peer := 1 - s.Rank()
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for k := range errs {
			wg.Go(func() {
				for i := range fewer(200) {
					n := []int{8, firstSize, DefaultEager, 100_000}[i%4]
					out, in := make([]byte, n), make([]byte, n)
					pattern(out, i+k+s.Rank())
					r, err := s.Irecv(firstCtx, peer, k, in, nil)
					if err == nil {
						err = s.Send(firstCtx, peer, k, out, nil)
					}
					if err == nil {
						_, err = s.Wait(r)
					}
					if err == nil {
						err = checkPattern(in, i+k+peer)
					}
					if err != nil {
						errs[k] = fmt.Errorf("message %d: %w", i, err)
						return
					}
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

// TestBrokenAssertions: what breaks a promise is told, and nothing hangs.
func TestBrokenAssertions(t *testing.T) {
	j := firstJob(t, made(t)(local.New(2, conduit.Config{})), 0)
	a, z := j[0], j[1]
	for what, f := range map[string]func() error{
		"any source": func() error { _, err := z.Irecv(firstCtx, AnySource, 1, nil, nil); return err },
		"any tag":    func() error { _, err := z.Recv(firstCtx, 0, AnyTag, nil, nil); return err },
		"probe":      func() error { _, _, err := z.Iprobe(firstCtx, AnySource, 1); return err },
		"mprobe":     func() error { _, _, err := z.Mprobe(firstCtx, 0, AnyTag); return err },
		"alloc": func() error {
			_, err := z.Recv(firstCtx, 0, 1, nil, &Options{Alloc: func(n int) []byte { return make([]byte, n) }})
			return err
		},
	} {
		if err := f(); !errors.Is(err, ErrAssert) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, x := range []struct{ sent, want int }{
		{8, 9},
		{9, 8},
		{0, 1},
		{firstSize, firstSize + 1},
		{firstSize + 1, firstSize},
		{DefaultEager, DefaultEager + 1},
		{DefaultEager + 1, DefaultEager},
	} {
		for _, postFirst := range []bool{false, true} {
			large := max(x.sent, x.want) > DefaultEager && min(x.sent, x.want) <= DefaultEager
			if postFirst && large && x.want > x.sent {
				continue // the receive waits for a large message
			}
			var s, r Req
			send := func() { s = mustReq(t)(a.Isend(firstCtx, 1, 3, make([]byte, x.sent), nil)) }
			post := func() { r = mustReq(t)(z.Irecv(firstCtx, 0, 3, make([]byte, x.want), nil)) }
			if postFirst {
				post()
				j.polls(3)
				send()
			} else {
				send()
				j.polls(3)
				post()
			}
			j.settle(t, s, r)
			if _, err := a.Wait(s); err != nil {
				t.Errorf("%+v: the send: %v", x, err)
			}
			_, err := z.Wait(r)
			if !errors.Is(err, ErrAssert) || errors.Is(err, ErrTruncate) != (x.sent > x.want) {
				t.Errorf("%+v, posted first %t: %v", x, postFirst, err)
			}
		}
	}
	s := mustReq(t)(a.Isend(firstCtx, 1, 3, make([]byte, firstSize), nil))
	r := mustReq(t)(z.Irecv(firstCtx, 0, 3, make([]byte, firstSize), nil))
	j.settle(t, s, r)
	if _, err := z.Wait(r); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// TestFirstShapes: elements are compared by the sender that follows an RTR.
func TestFirstShapes(t *testing.T) {
	j := firstJob(t, made(t)(local.New(2, conduit.Config{})), 0)
	for _, signature := range []uint64{7, 0, 9} {
		r := mustReq(t)(j[1].Irecv(firstCtx, 0, 1, make([]byte, firstSize), &Options{Signature: signature}))
		j.polls(3)
		s := mustReq(t)(j[0].Isend(firstCtx, 1, 1, make([]byte, firstSize), &Options{Signature: 7}))
		j.settle(t, s, r)
		if _, err := j[1].Wait(r); errors.Is(err, ErrType) != (signature == 9) {
			t.Errorf("signature %d: %v", signature, err)
		}
		if _, err := j[0].Wait(s); err != nil {
			t.Error(err)
		}
	}
}

// TestInvitedAtTheEnd: a receive that has invited its message ends when the context is retired, when its server ends and
// when its source is gone.
func TestInvitedAtTheEnd(t *testing.T) {
	for name, x := range map[string]struct {
		end  func(j job)
		want error
	}{
		"retired": {func(j job) {
			if left := j[1].Retire(firstCtx); left != (RetiredCounts{Receives: 1}) {
				t.Errorf("left %+v", left)
			}
		}, ErrCancelled},
		"closed": {func(j job) { j[1].Close() }, ErrClosed},
		"gone":   {func(j job) { j[0].Close(); j[1].Poll() }, ErrPeer},
	} {
		cs := made(t)(local.New(2, conduit.Config{}))
		j := firstJob(t, cs, 0)
		r := mustReq(t)(j[1].Irecv(firstCtx, 0, 1, make([]byte, firstSize), nil))
		j.polls(3)
		if p := j[1].registry.Ops(); len(p) != 1 || p[0].Kind != pending.Recv || p[0].Bytes != firstSize {
			t.Errorf("%s: pending %v", name, p)
		}
		if name == "gone" {
			if err := cs[0].Close(); err != nil {
				t.Error(err)
			}
		}
		x.end(j)
		for end := time.Now().Add(hangLimit); !r.Ready() && time.Now().Before(end); {
			j[1].Poll()
		}
		if _, err := j[1].Wait(r); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
		if n := j[1].ids.Used(); n != 0 {
			t.Errorf("%s: %d numbers are left", name, n)
		}
	}
}

// TestRetiredTurns: a context that is used again begins with no turns.
func TestRetiredTurns(t *testing.T) {
	j := firstJob(t, made(t)(local.New(2, conduit.Config{})), 0)
	for round := range 3 {
		for i := range 2 + round {
			r := mustReq(t)(j[1].Irecv(firstCtx, 0, 1, make([]byte, firstSize), nil))
			s := mustReq(t)(j[0].Isend(firstCtx, 1, 1, make([]byte, firstSize), nil))
			j.settle(t, r, s)
			if _, err := j[1].Wait(r); err != nil {
				t.Errorf("round %d, message %d: %v", round, i, err)
			}
			j[0].Drop(s)
		}
		j.polls(10)
		for _, s := range j {
			s.Retire(firstCtx)
		}
		for _, s := range j {
			s.Reopen(firstCtx)
			s.Assert(firstCtx, firstNeeds)
			sends := 0
			s.sends.Range(func(any, any) bool { sends++; return true })
			if len(s.receives.keys) != 0 || sends != 0 {
				t.Errorf("rank %d has turns of a context that is retired", s.rank)
			}
		}
	}
}

// late keeps records back.
type late struct {
	reversed
	hold bool
	kept [][]byte
}

func (c *late) Poll(budget int, sink conduit.Sink) int {
	c.recs, c.from, c.sink = nil, nil, sink
	n := c.Conduit.Poll(budget, &c.reversed)
	if c.hold {
		c.kept = append(c.kept, c.recs...)
		return n
	}
	for _, rec := range append(c.recs, c.kept...) {
		sink.Record(0, rec)
	}
	c.kept = nil
	return n
}

// TestOvertaking: with the promise a message that has come before its turn is matched at once, and without it waits.
// Either way each comes once, and later messages are not held up.
func TestOvertaking(t *testing.T) {
	for _, promised := range []Assert{0, AllowOvertaking} {
		cs := made(t)(local.New(2, conduit.Config{}))
		net := &late{reversed: reversed{Conduit: cs[1]}}
		cs[1] = net
		j := firstJob(t, cs, promised)
		var rs [5]Req
		var bufs [5][8]byte
		for i := range rs {
			rs[i] = mustReq(t)(j[1].Irecv(firstCtx, 0, i, bufs[i][:], nil))
		}
		send := func(tag int) {
			if err := j[0].Send(firstCtx, 1, tag, []byte{byte(tag), 1, 2, 3, 4, 5, 6, 7}, nil); err != nil {
				t.Fatal(err)
			}
		}
		net.hold = true
		send(0)
		j[1].Poll()
		net.hold = false
		held := net.kept
		net.kept = nil
		send(1)
		send(2)
		j[1].Poll()
		for i := 1; i < 3; i++ {
			if rs[i].Ready() != (promised != 0) {
				t.Errorf("promise %d: message %d is matched: %t", promised, i, rs[i].Ready())
			}
		}
		net.kept = held
		send(3)
		j.polls(2)
		send(4)
		j.settle(t, rs[:]...)
		for i := range rs {
			if bufs[i][0] != byte(i) || bufs[i][7] != 7 {
				t.Errorf("promise %d: receive %d got %v", promised, i, bufs[i])
			}
		}
		if j[1].peers[0].holds || len(j[1].held) != 0 {
			t.Error("something is still held")
		}
	}
}

// TestFirstStates: the send that follows an RTR was never offered.
func TestFirstStates(t *testing.T) {
	j := firstJob(t, made(t)(local.New(2, conduit.Config{})), 0)
	r := mustReq(t)(j[1].Irecv(firstCtx, 0, 1, make([]byte, firstSize), nil))
	if st := r.o.word.State(); st != match.RecvInvited {
		t.Errorf("the receive is %s", match.Protocol.StateName(st))
	}
	j.polls(2)
	s := mustReq(t)(j[0].Isend(firstCtx, 1, 1, make([]byte, firstSize), nil))
	if st := s.o.word.State(); st != match.SendStreaming {
		t.Errorf("the send is %s", match.Protocol.StateName(st))
	}
	if j[1].Cancel(r) {
		t.Error("cancelled at once")
	}
	j.settle(t, r, s)
	if _, err := j[1].Wait(r); err != nil {
		t.Errorf("the message was on its way: %v", err)
	}
}

// TestFirstOfCursors: sources and targets take RTRs, too, and the other end may be contiguous.
func TestFirstOfCursors(t *testing.T) {
	cs := made(t)(local.New(2, conduit.Config{}))
	counts := counting(cs)
	j := firstJob(t, cs, 0)
	for i := range 4 {
		out, in := make([]byte, firstSize), make([]byte, firstSize)
		pattern(out, i)
		var s, r Req
		if i&1 != 0 {
			r = mustReq(t)(j[1].Irecv(firstCtx, 0, 1, nil, &Options{Target: whole(in)}))
		} else {
			r = mustReq(t)(j[1].Irecv(firstCtx, 0, 1, in, nil))
		}
		j.polls(3)
		if i&2 != 0 {
			s = mustReq(t)(j[0].Isend(firstCtx, 1, 1, nil, &Options{Source: whole(out)}))
		} else {
			s = mustReq(t)(j[0].Isend(firstCtx, 1, 1, out, nil))
		}
		j.settle(t, s, r)
		if st, err := j[1].Wait(r); err != nil || st.Bytes != firstSize {
			t.Errorf("%d: %+v, %v", i, st, err)
		}
		if err := checkPattern(in, i); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		j[0].Drop(s)
	}
	if n := counts[1].n[handlerRTS]; n != 0 {
		t.Errorf("%d envelopes", n)
	}
}
