package schedule

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is one rank of a simulated call: its memory, and what it has under way.
type node struct {
	s    Schedule
	run  Run
	peer func(i int) int // the rank that a step's Peer stands for
	over []int           // how many messages, one caused by another, have led to the end of each step
	most int             // of the first seen steps, which are done
	seen int
	mem  [Bufs][]byte
	at   [Bufs]int // where the buffers lie, so that those which share memory are seen to
	open map[int]*Step
}

// message is one that has been sent and not received.
type message struct {
	step   int
	copied []byte // nil: its bytes are read when it is received
	over   int    // messages that have led to it, itself among them
}

// pair is what is matched in order: messages of one rank to another under one tag.
type pair struct {
	from, to int
	last     bool
}

// sim runs the schedules of all ranks, and lets sends and receives end in random order.
type sim struct {
	rnd   *rand.Rand
	nodes []*node
	sent  map[pair][]message
	wants map[pair][]int // steps that receive
	late  bool           // no send ends before its receive is there
	op    combination

	can   set[int]  // ranks that can start a step
	match set[pair] // that have a message and a receive for it
}

// set is a set that an element of any number can be taken from.
type set[T comparable] struct {
	all []T
	at  map[T]int
}

// put has x in the set or not.
func (s *set[T]) put(x T, in bool) {
	i, was := s.at[x]
	switch {
	case in && !was:
		if s.at == nil {
			s.at = map[T]int{}
		}
		s.at[x], s.all = len(s.all), append(s.all, x)
	case !in && was:
		last := len(s.all) - 1
		s.all[i], s.at[s.all[last]] = s.all[last], i
		s.all = s.all[:last]
		delete(s.at, x)
	}
}

// combination sets out to low op high. lost: out is low, and the content of high is lost.
type combination func(out, low, high []byte, lost bool) error

// newSim makes the ranks. In of each is a copy of what in gives, Out has the length that out gives. shared, if not nil,
// tells where in Out In lies, -1 for nowhere.
func newSim(
	rnd *rand.Rand, size int, in func(rank int) []byte, out, shared func(rank int) int, build func(s *Schedule, p Place),
	peer func(rank, i int) int, op combination,
) *sim {
	x := &sim{
		rnd: rnd, op: op, sent: map[pair][]message{}, wants: map[pair][]int{}, late: rnd.IntN(2) == 0,
	}
	for r := range size {
		n := &node{open: map[int]*Step{}, at: [Bufs]int{0, 1 << 40, 1 << 41}}
		n.peer = func(i int) int { return peer(r, i) }
		build(&n.s, Place{r, size})
		n.over = make([]int, len(n.s.Steps))
		n.mem = [Bufs][]byte{
			In: bytes.Clone(in(r)), Out: bytes.Repeat([]byte{0xee}, out(r)), Work: bytes.Repeat([]byte{0xdd}, n.s.Work),
		}
		if at := shared(r); at >= 0 {
			n.at[In] = n.at[Out] + at
			copy(n.mem[Out][at:], n.mem[In])
			n.mem[In] = n.mem[Out][at:][:len(n.mem[In])]
		}
		n.run.Begin(&n.s, 0)
		x.nodes = append(x.nodes, n)
	}
	return x
}

// pieces are the places that a step sends from or writes to.
func (x *Step) pieces() (at, tail piece) {
	if x.Tail == 0 {
		return piece{x.At, x.Len}, piece{}
	}
	return piece{x.At, x.Len - x.Tail}, piece{x.A, x.Tail}
}

// piece is a place and its length.
type piece struct {
	Mem
	n int
}

// message is a copy of the bytes of a step that sends.
func (n *node) message(x *Step) []byte {
	at, tail := x.pieces()
	return slices.Concat([]byte{}, n.bytes(at.Mem, at.n), n.bytes(tail.Mem, tail.n))
}

func (n *node) bytes(m Mem, length int) []byte { return n.mem[m.Buf][m.Off:][:length:length] }

// meets tells whether two places share bytes.
func (n *node) meets(x, y piece) bool {
	a, b := n.at[x.Buf]+x.Off, n.at[y.Buf]+y.Off
	return x.n > 0 && y.n > 0 && a < b+y.n && b < a+x.n
}

// free checks that a place may be read, or written, while what is under way is.
func (n *node) free(p piece, written bool) error {
	for i, x := range n.open {
		at, tail := x.pieces()
		if (written || x.Kind == Recv) && (n.meets(p, at) || n.meets(p, tail)) {
			return fmt.Errorf("%+v is in use by step %d %+v", p, i, *x)
		}
	}
	return nil
}

// apart checks that a step writes to a place that it reads, or to none of its bytes.
func (n *node) apart(st *Step, from Mem) error {
	if n.at[from.Buf]+from.Off != n.at[st.At.Buf]+st.At.Off && n.meets(piece{st.At, st.Len}, piece{from, st.Len}) {
		return fmt.Errorf("%+v overlaps what is written", from)
	}
	return nil
}

// start starts the next step of a rank.
func (x *sim) start(rank int) error {
	n := x.nodes[rank]
	st, i := n.run.Next()
	for ; n.seen < int(st.After); n.seen++ {
		n.most = max(n.most, n.over[n.seen])
	}
	n.over[i] = n.most
	at, tail := st.pieces()
	err := first(n.free(at, st.Kind != Send), n.free(tail, st.Kind != Send))
	switch st.Kind {
	case Send:
		n.open[i] = st
		m := message{step: i, over: n.over[i] + 1}
		if !x.late && x.rnd.IntN(2) == 0 {
			m.copied = n.message(st)
			x.end(rank, i)
		}
		to := pair{rank, n.peer(int(st.Peer)), st.Last}
		x.sent[to] = append(x.sent[to], m)
		x.changed(to)
	case Recv:
		n.open[i] = st
		from := pair{n.peer(int(st.Peer)), rank, st.Last}
		x.wants[from] = append(x.wants[from], i)
		x.changed(from)
	case Copy:
		err = first(err, n.free(piece{st.A, st.Len}, false))
		err = first(err, n.apart(st, st.A))
		copy(n.bytes(st.At, st.Len), n.bytes(st.A, st.Len))
		n.run.Done(i)
	case Combine:
		err = first(err, n.free(piece{st.A, st.Len}, false), n.free(piece{st.B, st.Len}, st.At == st.A))
		err = first(err, n.apart(st, st.A), n.apart(st, st.B))
		err = first(err, x.op(n.bytes(st.At, st.Len), n.bytes(st.A, st.Len), n.bytes(st.B, st.Len), st.At == st.A))
		n.run.Done(i)
	}
	x.look(rank)
	if err != nil {
		err = fmt.Errorf("rank %d, step %d %+v: %w", rank, i, *st, err)
	}
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *sim) end(rank, i int) {
	delete(x.nodes[rank].open, i)
	x.nodes[rank].run.Done(i)
	x.look(rank)
}

// look notes whether a rank can start a step.
func (x *sim) look(rank int) {
	n := x.nodes[rank]
	i := n.run.next
	x.can.put(rank, i < len(n.s.Steps) && int(n.s.Steps[i].After) <= n.run.low)
}

// changed notes whether a message of a pair can be received.
func (x *sim) changed(p pair) { x.match.put(p, len(x.sent[p]) > 0 && len(x.wants[p]) > 0) }

// meet hands one message over. Which of the ends is noticed first does not matter: they are of two ranks.
func (x *sim) meet(p pair) error {
	m, i := x.sent[p][0], x.wants[p][0]
	x.sent[p], x.wants[p] = x.sent[p][1:], x.wants[p][1:]
	x.changed(p)
	from, to := x.nodes[p.from], x.nodes[p.to]
	send, recv := &from.s.Steps[m.step], &to.s.Steps[i]
	if send.Len != recv.Len {
		return fmt.Errorf("rank %d sends %d bytes in step %d, rank %d receives %d in step %d",
			p.from, send.Len, m.step, p.to, recv.Len, i)
	}
	if m.copied == nil {
		m.copied = from.message(send)
		x.end(p.from, m.step)
	}
	copy(to.bytes(recv.At, recv.Len), m.copied)
	to.over[i] = max(to.over[i], m.over)
	x.end(p.to, i)
	return nil
}

// run executes all schedules to their end.
func (x *sim) run() error {
	for r := range x.nodes {
		x.look(r)
	}
	for len(x.can.all)+len(x.match.all) > 0 {
		k, can := x.rnd.IntN(len(x.can.all)+len(x.match.all)), len(x.can.all)
		var err error
		if k < can {
			err = x.start(x.can.all[k])
		} else {
			err = x.meet(x.match.all[k-can])
		}
		if err != nil {
			return err
		}
	}
	for r, n := range x.nodes {
		if st, i := n.run.Pending(0); !n.run.Over() {
			return fmt.Errorf("rank %d hangs before step %d of %d, and waits for step %d %+v",
				r, n.run.next, len(n.s.Steps), i, st)
		}
	}
	for p, left := range x.sent {
		if len(left) > 0 {
			return fmt.Errorf("%+v: %d messages are left", p, len(left))
		}
	}
	return nil
}
