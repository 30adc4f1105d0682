package comm

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/conduit"
)

// scheme is how the small messages of a program leave.
type scheme int

const (
	fast      scheme = iota // at once, without an operation
	queued                  // whole, from the queue of the pair: an operation in the states of match.Protocol
	enveloped               // after an envelope and its answer
)

func (w scheme) String() string { return [...]string{"fast", "queued", "enveloped"}[w] }

// deed is one step of a program of two ranks.
type deed struct {
	do        byte // 's'end, 'r'eceive, 'p'robe, 'm'atched probe, 'c'ancel the eldest receive, 'w'ait for quiet
	rank, tag int
	size      int
	polls     int // of both ranks, after it
	seed      int
}

const agreeEager = 512

func randomProgram(r *rand.Rand) (all []deed) {
	const verbs = "ssssrrrrpmcw"
	for k := range 40 {
		d := deed{do: verbs[r.IntN(len(verbs))], rank: r.IntN(2), tag: r.IntN(3), size: r.IntN(200), seed: k}
		if r.IntN(8) == 0 {
			d.size = agreeEager + r.IntN(10_000)
		}
		if d.do != 's' && r.IntN(3) == 0 {
			d.tag = AnyTag
		}
		if r.IntN(2) == 0 {
			d.polls = r.IntN(3)
		}
		all = append(all, d)
	}
	return all
}

// performed is a program that runs in one of the ways.
type performed struct {
	t      *testing.T
	scheme scheme
	j      job
	log    []string
	sends  []Req
	recvs  [2][]posting
}

type posting struct {
	Req
	buf  []byte
	deed int
}

// perform runs a program and gives what its receives, probes and cancellations have told.
func perform(t *testing.T, w scheme, program []deed) []string {
	x := &performed{t: t, scheme: w, j: newJob(t, 2, conduit.Config{}, Config{Eager: agreeEager})}
	for i, d := range program {
		x.do(i, d)
		for range d.polls {
			x.j[0].Poll()
			x.j[1].Poll()
		}
	}
	x.settle()
	for rank, s := range x.j {
		for _, p := range x.recvs[rank] {
			if !p.Ready() {
				s.Cancel(p.Req)
			}
			x.note(s, p)
		}
		x.drain(s)
	}
	x.settle()
	for _, r := range x.sends {
		if !r.Ready() {
			t.Errorf("%v: a send is %s after all", w, r.o.stateName())
		} else if _, err := r.o.s.Wait(r); err != nil {
			t.Errorf("%v: a send ended with %v", w, err)
		}
	}
	return x.log
}

func (x *performed) do(i int, d deed) {
	s, peer := x.j[d.rank], 1-d.rank
	switch d.do {
	case 's':
		x.send(s, peer, d)
	case 'r':
		buf := make([]byte, d.size)
		r, err := s.Irecv(1, peer, d.tag, buf, nil)
		x.check(err)
		x.recvs[d.rank] = append(x.recvs[d.rank], posting{r, buf, i})
	case 'p':
		x.settle()
		st, ok, err := s.Iprobe(1, peer, d.tag)
		x.check(err)
		x.log = append(x.log, fmt.Sprintf("%d: probe %+v %t", i, st, ok))
	case 'm':
		x.settle()
		m, st, err := s.Improbe(1, peer, d.tag)
		x.check(err)
		x.log = append(x.log, fmt.Sprintf("%d: matched probe %+v", i, st))
		if m != nil {
			buf := make([]byte, d.size)
			r, err := s.Imrecv(m, buf, nil)
			x.check(err)
			x.recvs[d.rank] = append(x.recvs[d.rank], posting{r, buf, i})
		}
	case 'c':
		x.settle()
		if mine := x.recvs[d.rank]; len(mine) > 0 {
			x.log = append(x.log, fmt.Sprintf("%d: cancel %t", i, s.Cancel(mine[0].Req)))
			x.note(s, mine[0])
			x.recvs[d.rank] = mine[1:]
		}
	default:
		x.settle()
	}
}

// send sends, and checks that the message goes in the way of the run.
func (x *performed) send(s *Server, peer int, d deed) {
	data := make([]byte, d.size)
	pattern(data, d.seed)
	mode := Standard
	switch x.scheme {
	case queued:
		g := &gate{open: true, left: make(chan struct{}), release: make(chan struct{})}
		close(g.release)
		s.e.Lock(peer)
		s.e.Enqueue(peer, g)
	case enveloped:
		mode = Synchronous
	}
	r, err := s.Isend(1, peer, d.tag, data, &Options{Form: Nonblocking, Mode: mode})
	x.check(err)
	if d.size <= agreeEager {
		switch {
		case (x.scheme == fast) != (r.o == nil):
			x.t.Errorf("a message of %d bytes has gone in another way than %v", d.size, x.scheme)
		case x.scheme == queued && r.o.word.State() != match.SendQueued:
			x.t.Errorf("a message is %s instead of queued", r.o.stateName())
		}
	}
	if r.o != nil {
		x.sends = append(x.sends, r)
	}
}

// settle polls until nothing happens any more.
func (x *performed) settle() {
	for quiet := 0; quiet < 10; quiet++ {
		if x.j[0].Poll()+x.j[1].Poll() > 0 || x.queueing() {
			quiet = 0
		}
	}
}

func (x *performed) queueing() (any bool) {
	for rank, s := range x.j {
		s.e.Lock(1 - rank)
		any = any || s.e.Queueing(1-rank)
		s.e.Abandon(1 - rank)
	}
	return any
}

// note logs the end of a receive.
func (x *performed) note(s *Server, p posting) {
	if !p.Ready() {
		x.settle()
	}
	if !p.Ready() {
		x.t.Fatalf("%v: receive %d does not end", x.scheme, p.deed)
	}
	st, err := s.Wait(p.Req)
	sum := fnv.New64()
	sum.Write(p.buf)
	x.log = append(x.log, fmt.Sprintf("%d: receive %+v %x %v", p.deed, st, sum.Sum64(), err))
}

// drain receives what is left.
func (x *performed) drain(s *Server) {
	for {
		x.settle()
		st, ok, err := s.Iprobe(1, 1-s.rank, AnyTag)
		x.check(err)
		if !ok {
			return
		}
		buf := make([]byte, st.Bytes)
		r, err := s.Irecv(1, 1-s.rank, AnyTag, buf, nil)
		x.check(err)
		x.note(s, posting{r, buf, -1})
	}
}

func (x *performed) check(err error) {
	if err != nil {
		x.t.Fatal(err)
	}
}

var agreeSeed = flag.Uint64("agree.seed", 0, "seed of the programs whose ways must agree; 0: a new one")

// TestSchemesAgree runs random programs of sends, receives, probes and cancellations. Small messages leave at once,
// from the queue, or after an envelope. The results must be the same.
func TestSchemesAgree(t *testing.T) {
	seed := cmp.Or(*agreeSeed, uint64(time.Now().UnixNano()))
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range fewer(60) {
		program := randomProgram(r)
		want := perform(t, fast, program)
		for _, w := range []scheme{queued, enveloped} {
			if got := perform(t, w, program); !slices.Equal(got, want) {
				t.Fatalf("%+v\nfast: %q\n%v: %q", program, want, w, got)
			}
		}
	}
}
