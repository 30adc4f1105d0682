package comm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// strided is n bytes in blocks that are stride apart, as Source and Target.
type strided struct {
	mem              []byte
	n, block, stride int
}

func newStrided(n, block, gap int) *strided {
	s := &strided{n: n, block: block, stride: block + gap}
	s.mem = make([]byte, (n+block-1)/block*s.stride)
	for i := range s.mem {
		s.mem[i] = untouched
	}
	return s
}

const untouched = 0xa5 // what gaps hold

// Len implements Source and Target.
func (s *strided) Len() int { return s.n }

// Pack implements Source.
func (s *strided) Pack(dst []byte, off int) {
	for in, at := s.at(off); len(dst) > 0; in = 0 {
		k := copy(dst, s.mem[at:at+min(s.block-in, len(dst))])
		dst, at = dst[k:], at-in+s.stride
	}
}

// Unpack implements Target.
func (s *strided) Unpack(src []byte, off int) {
	for in, at := s.at(off); len(src) > 0; in = 0 {
		k := copy(s.mem[at:at+min(s.block-in, len(src))], src)
		src, at = src[k:], at-in+s.stride
	}
}

// at tells where offset off lies within its block, and in the memory.
func (s *strided) at(off int) (in, at int) {
	in = off % s.block
	return in, off/s.block*s.stride + in
}

// watched checks that what it wraps is called as its contract says.
type watched struct {
	*strided
	times []uint8 // that each byte was packed or unpacked
	busy  atomic.Bool
	wrong atomic.Pointer[string]
}

func watch(s *strided) *watched { return &watched{strided: s, times: make([]uint8, s.n)} }

func (w *watched) Pack(dst []byte, off int) {
	defer w.called(len(dst), off)()
	w.strided.Pack(dst, off)
}

func (w *watched) Unpack(src []byte, off int) {
	defer w.called(len(src), off)()
	w.strided.Unpack(src, off)
}

func (w *watched) called(n, off int) (end func()) {
	if n <= 0 || off < 0 || off+n > w.n || !w.busy.CompareAndSwap(false, true) {
		why := fmt.Sprintf("called for %d bytes at %d of %d, or twice at once", n, off, w.n)
		w.wrong.CompareAndSwap(nil, &why)
		return func() {}
	}
	for i := range w.times[off : off+n] {
		w.times[off+i]++
	}
	return func() { w.busy.Store(false) }
}

// check tells whether the first n bytes of w were used once, the rest not at all, and no gap was written to.
func (w *watched) check(n int) error {
	if why := w.wrong.Load(); why != nil {
		return errors.New(*why)
	}
	for i, k := range w.times {
		if want := i < n; want != (k == 1) || k > 1 {
			return fmt.Errorf("byte %d was used %d times; %d bytes were to be", i, k, n)
		}
	}
	for i, b := range w.mem {
		if i%w.stride >= w.block && b != untouched {
			return fmt.Errorf("byte %d, between the blocks, was changed", i)
		}
	}
	return nil
}

// aMessage is one of TestCursors: the two ranks draw the same.
type aMessage struct {
	from, to    int
	size, room  int
	out, in     *strided // nil: contiguous
	late, probe bool     // the receive comes after the message, and takes it from a probe
	mode        Mode
	waits       bool // Send and Recv in the place of requests
	any         bool // the receive has wildcards
	signature   uint64
}

func drawMessage(r *rand.Rand) (m aMessage) {
	m = aMessage{from: r.IntN(2), to: r.IntN(2), late: r.IntN(2) > 0, probe: r.IntN(3) == 0, any: r.IntN(4) == 0}
	m.mode, m.waits, m.signature = Mode(r.IntN(4)/3), r.IntN(2) > 0 && m.from != m.to, uint64(r.IntN(2))
	m.size = r.IntN(1 << r.IntN(20))
	if m.room = m.size; r.IntN(4) == 0 {
		m.room = r.IntN(2*m.size + 2)
	}
	if r.IntN(3) > 0 {
		m.out = newStrided(m.size, 1+r.IntN(100), r.IntN(50))
	}
	if r.IntN(3) > 0 {
		m.in = newStrided(m.room, 1+r.IntN(100), r.IntN(50))
	}
	return m
}

// send starts to send m, and gives what the end must check.
func (m *aMessage) send(s *Server, tag int) (end func() error, err error) {
	b := make([]byte, m.size)
	pattern(b, tag)
	if m.out == nil {
		r, err := s.Isend(1, m.to, tag, b, &Options{Mode: m.mode, Signature: m.signature})
		return func() error { return second(s.Wait(r)) }, err
	}
	m.out.Unpack(b, 0)
	w := watch(m.out)
	sent := func(err error) error {
		if err != nil || m.room < m.size { // what does not fit need not be packed
			return err
		}
		return w.check(m.size)
	}
	if m.waits {
		return func() error { return sent(s.Send(1, m.to, tag, nil, &Options{Source: w, Mode: m.mode})) }, nil
	}
	r, err := s.Isend(1, m.to, tag, nil, &Options{Source: w, Mode: m.mode, Signature: m.signature})
	return func() error { return sent(second(s.Wait(r))) }, err
}

// recv starts to receive m.
func (m *aMessage) recv(s *Server, tag int) (end func() error, err error) {
	src, any := m.from, tag
	if m.any {
		src, any = AnySource, tag // other messages are there, too
	}
	flat := make([]byte, m.room)
	var w *watched
	var wait func() (Status, error)
	switch {
	case m.in == nil:
		r, err := s.Irecv(1, src, any, flat, &Options{Signature: m.signature})
		if err != nil {
			return nil, err
		}
		wait = func() (Status, error) { return s.Wait(r) }
	case m.late && m.probe:
		w = watch(m.in)
		msg, _, err := s.Mprobe(1, src, any)
		if err != nil {
			return nil, err
		}
		r, err := s.Imrecv(msg, nil, &Options{Target: w, Signature: m.signature})
		if err != nil {
			return nil, err
		}
		wait = func() (Status, error) { return s.Wait(r) }
	case m.waits && m.late:
		w = watch(m.in)
		wait = func() (Status, error) { return s.Recv(1, src, any, nil, &Options{Target: w}) }
	default:
		w = watch(m.in)
		r, err := s.Irecv(1, src, any, nil, &Options{Target: w, Signature: m.signature})
		if err != nil {
			return nil, err
		}
		wait = func() (Status, error) { return s.Wait(r) }
	}
	return func() error {
		st, err := wait()
		got := min(m.size, m.room)
		if short := m.room < m.size; short != errors.Is(err, ErrTruncate) || !short && err != nil {
			return fmt.Errorf("%d bytes into %d: %w", m.size, m.room, err)
		}
		if st != (Status{Source: m.from, Tag: tag, Bytes: int64(got)}) {
			return fmt.Errorf("%d bytes into %d: status %+v", m.size, m.room, st)
		}
		if w != nil {
			if err := w.check(got); err != nil {
				return err
			}
			w.strided.Pack(flat[:got], 0)
		}
		want := make([]byte, m.size)
		pattern(want, tag)
		for i, b := range flat[:got] {
			if b != want[i] {
				return fmt.Errorf("byte %d of %d is damaged", i, got)
			}
		}
		return nil
	}, nil
}

// exchange sends and receives m. The messages at the end of the tags tell that the receive has been posted, or that
// the message has left.
func (m *aMessage) exchange(s *Server, tag int) (err error) {
	const told = 1 << 20
	var ends []func() error
	note := func(to int) error { return s.Send(1, to, told+tag, nil, nil) }
	await := func(from int) error { return second(s.Recv(1, from, told+tag, nil, nil)) }
	receives := func() {
		if end, e := m.recv(s, tag); e != nil {
			err = errors.Join(err, e)
		} else {
			ends = append(ends, end)
		}
	}
	if s.rank == m.to && !m.late {
		if receives(); m.from != m.to {
			err = errors.Join(err, note(m.from))
		}
	}
	if s.rank == m.from {
		if m.from != m.to && !m.late {
			err = errors.Join(err, await(m.to))
		}
		end, e := m.send(s, tag)
		if err = errors.Join(err, e); e != nil {
			return err
		}
		if ends = append(ends, end); m.from != m.to && m.late && !m.waits {
			err = errors.Join(err, note(m.to))
		}
	}
	if s.rank == m.to && m.late {
		if m.from != m.to && !m.waits {
			err = errors.Join(err, await(m.from))
		} else if m.from == m.to {
			s.Poll()
		}
		receives()
	}
	for _, end := range ends {
		err = errors.Join(err, end())
	}
	return err
}

// cursorNetworks are more ways than networks has to join two ranks.
var cursorNetworks = map[string]func(t testing.TB, n int) []conduit.Conduit{
	"tiny": func(t testing.TB, n int) []conduit.Conduit {
		return made(t)(local.New(n, conduit.Config{TinyQueues: true}))
	},
	"no bulk": func(t testing.TB, n int) []conduit.Conduit {
		return made(t)(local.New(n, conduit.Config{BulkChunk: -1}))
	},
	"mixed": func(t testing.TB, n int) []conduit.Conduit {
		return mixedtest.Local(t, n, conduit.Config{}, mixedtest.AllFar, nil)
	},
	"faults": func(t testing.TB, n int) []conduit.Conduit {
		cs := made(t)(local.New(n, conduit.Config{BulkChunk: 1000}))
		for i := range cs {
			cs[i] = fault.New(cs[i], fault.Config{Seed: 3, Refuse: 100, Hold: 100, Reorder: true})
		}
		return cs
	},
	"bad udp": func(t testing.TB, n int) []conduit.Conduit {
		return udptest.Job{Mode: seal.Trust, Faults: udptest.Bad, MinRTO: udptest.BadMinRTO, Payload: 1400}.Open(t, n, conduit.Config{})
	},
}

// TestCursors sends messages of every size between contiguous and strided memory, over every conduit. They are eager
// and large, come before and after their receive, into buffers that are too short, and from a rank to itself.
func TestCursors(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, list := range []map[string]func(t testing.TB, n int) []conduit.Conduit{networks, cursorNetworks} {
		for name, open := range list {
			t.Run(name, func(t *testing.T) {
				rounds := fewer(400)
				if testing.Short() {
					rounds = fewer(100)
				}
				j := jobOver(t, open(t, 2), Config{Eager: 3000})
				j.run(t, func(s *Server) (first error) {
					r := rand.New(rand.NewPCG(seed, 1))
					for i := range rounds { // to the end, as the other rank does
						m := drawMessage(r)
						if err := m.exchange(s, i); err != nil && first == nil {
							first = fmt.Errorf("message %d, %+v: %w", i, m, err)
						}
					}
					return first
				})
				for _, s := range j {
					if n := s.ids.Used(); n != 0 {
						t.Errorf("rank %d: %d numbers are left", s.rank, n)
					}
				}
			})
		}
	}
}

// TestCursorsDoNotAllocate: neither an eager message nor a large one.
func TestCursorsDoNotAllocate(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	j := newJob(t, 2, conduit.Config{}, Config{})
	a, z := j[0], j[1]
	for _, size := range []int{0, 8, 1000, DefaultEager, 100_000} {
		out, in := newStrided(size, 8, 24), newStrided(size, 8, 8)
		expected := func() error {
			r, err := z.Irecv(1, 0, 3, nil, &Options{Target: in})
			if err != nil {
				return err
			}
			q, err := a.Isend(1, 1, 3, nil, &Options{Source: out})
			if err != nil {
				return err
			}
			for !r.Ready() || !q.Ready() {
				z.Poll()
				a.Poll()
			}
			_, err = a.Wait(q)
			return errors.Join(err, second(z.Wait(r)))
		}
		unexpected := func() error {
			if size > DefaultEager {
				return nil
			}
			if err := a.Send(1, 1, 3, nil, &Options{Source: out}); err != nil {
				return err
			}
			z.Poll()
			return second(z.Recv(1, 0, 3, nil, &Options{Target: in}))
		}
		for name, f := range map[string]func() error{"expected": expected, "unexpected": unexpected} {
			if n := testing.AllocsPerRun(1000, func() {
				if err := f(); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%d bytes, %s: %v allocations a message", size, name, n)
			}
		}
	}
}

// whole is contiguous memory as Source and Target.
type whole []byte

func (w whole) Len() int                   { return len(w) }
func (w whole) Pack(dst []byte, off int)   { copy(dst, w[off:]) }
func (w whole) Unpack(src []byte, off int) { copy(w[off:], src) }

// lengthy is a cursor of any length.
type lengthy int

func (n lengthy) Len() int         { return int(n) }
func (lengthy) Pack([]byte, int)   {}
func (lengthy) Unpack([]byte, int) {}

// bringPacked has a send whose chunks fill the channel, and more of them to be packed.
func bringPacked(t *testing.T, j job) []Req {
	r, err := j[0].Isend(1, 1, endings, nil, &Options{Source: newStrided(vast, 100, 7)})
	if err != nil {
		t.Fatal(err)
	}
	w := irecv(t, j[1], vast)
	until(t, "the receiver asks for the bytes", func() bool { return number(j[1], w) != 0 }, j[1])
	until(t, "the sender is asked", func() bool { return number(j[0], r) == 0 }, j[0])
	if stuck(j[0]); r.Ready() {
		t.Fatal("all bytes are gone already")
	}
	return []Req{r}
}

// bringUnpacked has a receive of which some chunks may have come. The sender offers its memory, if it can.
func bringUnpacked(t *testing.T, j job) []Req {
	isend(t, j[1], vast, Standard)
	r, err := j[0].Irecv(1, 1, endings, nil, &Options{Target: newStrided(vast, 100, 7)})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the bytes are asked for", func() bool { return number(j[0], r) != 0 || r.Ready() }, j[0])
	if r.Ready() {
		t.Fatal("all bytes have come already")
	}
	return []Req{r}
}

// TestBadCursors: what is no cursor is refused, and starts nothing.
func TestBadCursors(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	s := j[0]
	for what, err := range map[string]error{
		"Send of -1 bytes":     s.Send(1, 1, 3, nil, &Options{Source: lengthy(-1)}),
		"Recv, room for -1":    second(s.Recv(1, 1, 3, nil, &Options{Target: lengthy(-1)})),
		"Isend of -1 bytes":    second(s.Isend(1, 1, 3, nil, &Options{Source: lengthy(-1)})),
		"Irecv, room for -100": second(s.Irecv(1, 1, 3, nil, &Options{Target: lengthy(-100)})),
	} {
		if !errors.Is(err, ErrBuffer) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"Send":  s.Send(1, 2, 3, nil, &Options{Source: lengthy(1)}),
		"Irecv": second(s.Irecv(1, -7, 3, nil, &Options{Target: lengthy(1)})),
	} {
		if !errors.Is(err, ErrRank) {
			t.Errorf("%s with a rank that is none: %v", what, err)
		}
	}
	if err := second(s.Imrecv(nil, nil, &Options{Target: lengthy(1)})); !errors.Is(err, ErrRequest) {
		t.Errorf("Imrecv of no message: %v", err)
	}
	if n := s.registry.Ops(); len(n) != 0 {
		t.Errorf("%d operations have been started: %v", len(n), n)
	}
}
