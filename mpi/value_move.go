package mpi

import "github.com/golci/golci/mpi/internal/core"

// valueCall is a collective of values on what the codec makes of them: two collectives of slices, one of lengths, and
// one of bytes. A value that cannot be encoded travels as an empty message, so that the ranks stay in step. Lengths
// that this process cannot have give ErrMemory, and end the collectives of the communicator. One of two groups is
// revoked then, since the other ranks wait in a call of their own.
type valueCall struct {
	c    *Comm
	what string
	root int
}

// inTwo carries out both on one group: first on in and out, and then bytes, which may set its buffers.
func (m valueCall) inTwo(in, out []int64, lengths, bytes func(x *core.Call, root int) error) error {
	if err := blocking(m.c, m.what, in, out, m.root, lengths); err != nil {
		return err
	}
	return blocking[byte](m.c, m.what, nil, nil, m.root, bytes)
}

// twoGroupsOf is the collective on two groups, of which the caller sets the buffers.
func twoGroupsOf[T any](m valueCall, kind core.Kind) interCall[T] {
	return interCall[T]{what: m.what, kind: kind, root: m.root}
}

// counted carries out the collective of lengths between two groups, and adds what was told.
func (m valueCall) counted(kind core.Kind, in, out []int64, size int) (int64, error) {
	g := twoGroupsOf[int64](m, kind)
	g.in, g.out = in, out
	if err := g.doCall(m.c); err != nil {
		return 0, err
	}
	return m.addTold(out, size)
}

// addTold adds what was told. If it cannot be, nobody goes on.
func (m valueCall) addTold(lens []int64, size int) (int64, error) {
	n, err := m.c.core().Told(m.what, lens, max(m.root, 0), size)
	if err != nil {
		_ = m.c.Revoke() // the first error is the one to tell
	}
	return n, err
}

// isRoot reports whether the rank is the root of a collective.
func (c *Comm) isRoot(root int) bool {
	if c.Inter() {
		return root == Root
	}
	return c.Rank() == root
}

// sendsTo reports whether the rank gives something to the root. In one group all do.
func (c *Comm) sendsTo(root int) bool { return !c.Inter() || root >= 0 }

// bcast gives the root's b to the others. The root gets nil.
func (m valueCall) bcast(b []byte) (got []byte, err error) {
	n := []int64{int64(len(b))}
	if m.c.Inter() {
		return m.bcastBetween(b, n)
	}
	err = m.inTwo(nil, n, (*core.Call).Bcast, func(x *core.Call, root int) (err error) {
		if x.Rank() != root {
			if got, err = x.Memory(n, root); err != nil {
				return err
			}
			b = got
		}
		return buffers(x, nil, b).Bcast(root)
	})
	return got, err
}

func (m valueCall) bcastBetween(b []byte, n []int64) (got []byte, err error) {
	g := twoGroupsOf[int64](m, core.KindBcast)
	g.out = n
	if err := g.doCall(m.c); err != nil {
		return nil, err
	}
	if m.root >= 0 {
		room, err := m.addTold(n, 1)
		if err != nil {
			return nil, err
		}
		got = make([]byte, room)
		b = got
	}
	h := twoGroupsOf[byte](m, core.KindBcast)
	h.out = b
	return got, h.doCall(m.c)
}

// scatter gives rank i part i of the root's all, the lengths of which are lens.
func (m valueCall) scatter(all []byte, lens []int64) (b []byte, err error) {
	n := []int64{0}
	if m.c.Inter() {
		return m.scatterBetween(all, lens, n)
	}
	err = m.inTwo(lens, n, (*core.Call).Scatter, func(x *core.Call, root int) (err error) {
		if b, err = x.Memory(n, root); err != nil {
			return err
		}
		return buffers(x, all, b).Scatterv(ints(lens), nil, root)
	})
	return b, err
}

func (m valueCall) scatterBetween(all []byte, lens, n []int64) (b []byte, err error) {
	if m.root < 0 {
		n = nil
	}
	room, err := m.counted(core.KindScatter, lens, n, 1)
	if err != nil {
		return nil, err
	}
	b = make([]byte, room)
	g := twoGroupsOf[byte](m, core.KindScatterv)
	g.in, g.out, g.counts = all, b, ints(lens)
	return b, g.doCall(m.c)
}

// peers is how many ranks a rank of c exchanges with: those of the other group if there is one. It is 0 for none.
func (c *Comm) peers() int {
	if c.Inter() {
		n, _ := c.RemoteSize()
		return n
	}
	return max(c.Size(), 0)
}

func ints(list []int64) []int {
	if list == nil {
		return nil
	}
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}
