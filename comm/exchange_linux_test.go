package comm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/golci/golci/conduit"
)

// reaching is a conduit that notes how much of each message it was asked to get.
type reaching struct {
	conduit.Conduit
	conduit.Remote
	gets []int
}

// Get implements conduit.Remote.
func (r *reaching) Get(peer int, dst []byte, k conduit.Key, off int64, c conduit.Completion) int {
	r.gets = append(r.gets, len(dst))
	return r.Remote.Get(peer, dst, k, off, c)
}

// TestWhoCopies: a message goes the way that the setting says. Where the receiver asks for it, or may end at any time,
// it copies alone.
func TestWhoCopies(t *testing.T) {
	const size = 256 << 10
	for _, c := range []struct {
		way   Scheme
		terms Options
		gets  []int // of the receiver
	}{
		{Halves, Options{}, []int{size / 2}},
		{Get, Options{}, []int{size}},
		{Stream, Options{}, nil},
		{Halves, Options{Alone: true}, []int{size}},
		{Stream, Options{Alone: true}, nil},
		{Stream, Options{Endable: true}, []int{size}},
		{Halves, Options{Endable: true}, []int{size}},
	} {
		cs := shmConduits(t, 2)
		receiver := &reaching{Conduit: cs[1], Remote: cs[1].(conduit.Remote)}
		cs[1] = receiver
		j := jobOver(t, cs, Config{Scheme: c.way})
		if !canCopy(j[0]) {
			t.Skip("the kernel does not let one process reach another's memory here")
		}
		out, in := make([]byte, size), make([]byte, size)
		pattern(out, 1)
		send, err := j[0].Isend(1, 1, 1, out, nil)
		if err != nil {
			t.Fatal(err)
		}
		recv, err := j[1].Irecv(1, 0, 1, in, &c.terms)
		if err != nil {
			t.Fatal(err)
		}
		for !send.Ready() || !recv.Ready() {
			j[0].Poll()
			j[1].Poll()
		}
		if _, err := j[0].Wait(send); err != nil {
			t.Error(err)
		}
		if _, err := j[1].Wait(recv); err != nil {
			t.Error(err)
		}
		if !slices.Equal(receiver.gets, c.gets) || !bytes.Equal(in, out) {
			t.Errorf("%+v: the receiver gets %d; the bytes are right: %t", c, receiver.gets, bytes.Equal(in, out))
		}
	}
}

// TestAutoScheme: without a setting the ways are tried for each traffic, and all bytes come. Where messages go both
// ways the higher rank takes the ways that the lower one takes.
func TestAutoScheme(t *testing.T) {
	const size = 128 << 10
	j := jobOver(t, shmConduits(t, 2), Config{})
	if !canCopy(j[0]) {
		t.Skip("the kernel does not let one process reach another's memory here")
	}
	out, in := make([]byte, size), [2][]byte{make([]byte, size), make([]byte, size)}
	pattern(out, 1)
	for _, both := range []bool{false, true} {
		rounds := 100
		if both {
			rounds = 500
		}
		for range rounds {
			var reqs []Req
			for r := range 2 {
				if r == 1 || both {
					clear(in[r])
					s, err := j[1-r].Isend(1, r, 1, out, nil)
					if err != nil {
						t.Fatal(err)
					}
					reqs = append(reqs, s)
				}
			}
			for r := range 2 {
				if r == 1 || both {
					x, err := j[r].Irecv(1, 1-r, 1, in[r], nil)
					if err != nil {
						t.Fatal(err)
					}
					reqs = append(reqs, x)
				}
			}
			for slices.ContainsFunc(reqs, func(r Req) bool { return !r.Ready() }) {
				j[0].Poll()
				j[1].Poll()
			}
			if !bytes.Equal(in[1], out) || both && !bytes.Equal(in[0], out) {
				t.Fatalf("both ways: %t: other bytes have come", both)
			}
		}
	}
	for tr, rank := range map[traffic]int{oneWay: 1, bothWays: 0} {
		c := j[rank].pathsOf(int32(1 - rank)).classes[tr][sizeClassOf(size)]
		for w := range orders[tr][sizeClassOf(size)] {
			if c == nil || c.picker.Cost(w) == 0 {
				t.Errorf("traffic %d: way %d was not measured", tr, orders[tr][sizeClassOf(size)][w])
			}
		}
	}
	if c := j[1].pathsOf(0).classes[bothWays][sizeClassOf(size)]; c != nil && c.number > 1 {
		t.Errorf("the higher rank measured %d epochs by itself, though the lower one chose", c.number)
	}
}

// TestEagerOrNot: between the two eager limits a sender tries both ways. Where messages go both ways the higher rank
// sends as the lower one does. All bytes come, in order.
func TestEagerOrNot(t *testing.T) {
	const size, many, window = 7 << 10, 2000, 8
	j := jobOver(t, shmConduits(t, 2), Config{Eager: 4 << 10, LongEager: 8 << 10})
	if !canCopy(j[0]) {
		t.Skip("the kernel does not let one process reach another's memory here")
	}
	out, in := make([]byte, size), make([]byte, size)
	for i := range many / window {
		for _, from := range []int{0, 1} {
			if from == 1 && i < many/window/2 {
				continue // one way at first
			}
			var reqs []Req
			for k := range window {
				pattern(out, i+k)
				s, err := j[from].Isend(1, 1-from, 1, append([]byte(nil), out...), nil)
				if err != nil {
					t.Fatal(err)
				}
				reqs = append(reqs, s)
			}
			for k := range window {
				r, err := j[1-from].Irecv(1, from, 1, in, nil)
				if err != nil {
					t.Fatal(err)
				}
				for !r.Ready() {
					j[0].Poll()
					j[1].Poll()
				}
				if pattern(out, i+k); !bytes.Equal(in, out) {
					t.Fatalf("round %d, message %d from rank %d: other bytes have come", i, k, from)
				}
			}
			for slices.ContainsFunc(reqs, func(r Req) bool { return !r.Ready() }) {
				j[0].Poll()
				j[1].Poll()
			}
		}
	}
	class := j[0].pathsOf(1).classes[ofSender][sizeClassOf(size)]
	for w := range orders[ofSender][0] {
		if class.picker.Cost(w) == 0 {
			t.Errorf("way %d was not measured", w)
		}
	}
	if c := j[1].pathsOf(0).classes[ofSender][sizeClassOf(size)]; c != nil {
		t.Errorf("the higher rank measured %d epochs by itself, though the lower one sent", c.number)
	}
}
