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
	mem  [Bufs][]byte
	at   [Bufs]int // where the buffers lie, so that those which share memory are seen to
	open map[int]*Step
}

// message is one that has been sent and not received.
type message struct {
	step   int
	copied []byte // nil: its bytes are read when it is received
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
}

// newSim makes the ranks. In of each is a copy of what in gives, Out has the length that out gives. shared, if not nil,
// tells where in Out In lies, -1 for nowhere.
func newSim(
	rnd *rand.Rand, size int, in func(rank int) []byte, out, shared func(rank int) int, build func(s *Schedule, p Place),
) *sim {
	x := &sim{rnd: rnd, sent: map[pair][]message{}, wants: map[pair][]int{}, late: rnd.IntN(2) == 0}
	for r := range size {
		n := &node{open: map[int]*Step{}, at: [Bufs]int{0, 1 << 40, 1 << 41}}
		build(&n.s, Place{r, size})
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

// start starts what may be started at one rank; false if nothing may.
func (x *sim) start(rank int) (bool, error) {
	n := x.nodes[rank]
	st, i := n.run.Next()
	if st == nil {
		return false, nil
	}
	at, tail := st.pieces()
	err := first(n.free(at, st.Kind != Send), n.free(tail, st.Kind != Send))
	switch st.Kind {
	case Send:
		n.open[i] = st
		m := message{step: i}
		if !x.late && x.rnd.IntN(2) == 0 {
			m.copied = n.message(st)
			x.end(rank, i)
		}
		to := pair{rank, int(st.Peer), st.Last}
		x.sent[to] = append(x.sent[to], m)
	case Recv:
		n.open[i] = st
		from := pair{int(st.Peer), rank, st.Last}
		x.wants[from] = append(x.wants[from], i)
	case Copy:
		err = first(err, n.free(piece{st.A, st.Len}, false))
		copy(n.bytes(st.At, st.Len), n.bytes(st.A, st.Len))
		n.run.Done(i)
	case Combine:
		err = first(err, n.free(piece{st.A, st.Len}, false), n.free(piece{st.B, st.Len}, st.At == st.A))
		err = first(err, chain(n.bytes(st.At, st.Len), n.bytes(st.A, st.Len), n.bytes(st.B, st.Len), st.At == st.A))
		n.run.Done(i)
	}
	if err != nil {
		err = fmt.Errorf("rank %d, step %d %+v: %w", rank, i, *st, err)
	}
	return true, err
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
}

// pairs that have a message and a receive for it.
func (x *sim) matched() (out []pair) {
	for from := range x.nodes {
		for to := range x.nodes {
			for _, last := range []bool{false, true} {
				if p := (pair{from, to, last}); len(x.sent[p]) > 0 && len(x.wants[p]) > 0 {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// meet hands one message over. Which of the ends is noticed first does not matter: they are of two ranks.
func (x *sim) meet(p pair) error {
	m, i := x.sent[p][0], x.wants[p][0]
	x.sent[p], x.wants[p] = x.sent[p][1:], x.wants[p][1:]
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
	x.end(p.to, i)
	return nil
}

// run executes all schedules to their end.
func (x *sim) run() error {
	for {
		var can []int
		for r, n := range x.nodes {
			if i := n.run.next; i < len(n.s.Steps) && int(n.s.Steps[i].After) <= n.run.low {
				can = append(can, r)
			}
		}
		pairs := x.matched()
		if len(can)+len(pairs) == 0 {
			break
		}
		k := x.rnd.IntN(len(can) + len(pairs))
		var err error
		if k < len(can) {
			_, err = x.start(can[k])
		} else {
			err = x.meet(pairs[k-len(can)])
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

// The elements that are combined are intervals: low and high end, and two bytes that tell which element it is.
// Combining is right only for neighbours, the lower one first.
const elemSize = 4

func interval(low, high, i int) []byte { return []byte{byte(low), byte(high), byte(i), byte(i >> 8)} }

// intervals is what a rank contributes.
func intervals(rank, elems int) (b []byte) {
	for i := range elems {
		b = append(b, interval(rank, rank+1, i)...)
	}
	return b
}

func chain(out, low, high []byte, lost bool) error {
	for i := 0; i < len(out); i += elemSize {
		a, b := low[i:][:elemSize], high[i:][:elemSize]
		if a[1] != b[0] || !bytes.Equal(a[2:], b[2:]) {
			return fmt.Errorf("at %d of %d: %v is combined with %v", i, len(out), a, b)
		}
		x := [elemSize]byte{a[0], b[1], a[2], a[3]}
		if lost {
			copy(high[i:], []byte{0xff, 0xff, 0xff, 0xff})
		}
		copy(out[i:], x[:])
	}
	return nil
}
