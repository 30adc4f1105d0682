package mpi

// reduceLarge is from how many bytes on a commutative reduction goes round a ring, where each rank combines its share,
// instead of up a tree, where the last one combines everything.
const reduceLarge = 64 << 10

// Reduce combines send of all ranks with op, element by element, into recv of rank root (6.9.1). recv is used at root only
// and must be as long as send there, or longer; it may be the same slice as send but must not overlap it otherwise. It
// waits, and may switch threads. Errors: ErrRoot, ErrOp, ErrType, ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrFinalized, ErrAborted,
// ErrPeer.
func Reduce[T any](c *Comm, send, recv []T, op Op[T], root int) error {
	x, err := c.begin(wayReduceTree, plainError[T]())
	if err != nil {
		return err
	}
	return x.end(reduce(x, send, recv, op, root))
}

func reduce[T any](x *coll, send, recv []T, op Op[T], root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	r := reduction[T]{x, op}
	if x.rank != root {
		recv = nil
	}
	if err := r.check(send, recv, x.rank == root); err != nil {
		return err
	}
	if r.large(len(send)) {
		x.take(wayReduceRing, root)
		return r.ringReduce(send, recv, root)
	}
	x.take(wayReduceTree, root)
	return r.treeReduce(send, recv, root)
}

// reduction is one call of a reduction on one rank.
type reduction[T any] struct {
	*coll
	op Op[T]
}

func (r reduction[T]) check(send, recv []T, result bool) error {
	if r.op.f == nil {
		return r.errorf(ErrOp, "the operation has no function")
	}
	if !result {
		return nil
	}
	if err := r.lengthFor("receive", len(recv), len(send)); err != nil {
		return err
	}
	in, out := bytesOf(send), bytesOf(recv)
	if !same(in, out) && overlap(in, out) {
		return r.errorf(ErrBuffer, "send and receive buffer overlap")
	}
	return nil
}

func (r reduction[T]) large(n int) bool {
	return r.op.commute && n*sizeOf[T]() > reduceLarge && n >= r.size && r.size > 2
}

// treeReduce goes up a binomial tree. Without commutativity the tree is rooted in rank 0, so that each rank holds the
// result of a run of ranks, and lower ones come first.
func (r reduction[T]) treeReduce(send, recv []T, root int) error {
	b := bytesOf(send)
	mem, s := borrow(2 * align8(len(b)))
	defer s.release()
	acc, in := mem[:len(b)], mem[align8(len(b)):][:len(b)]
	copy(acc, b)
	top := root
	if !r.op.commute {
		top = 0
	}
	me := (r.rank - top + r.size) % r.size
	for k := 1; k < r.size; k *= 2 {
		if me&k != 0 {
			if err := r.send((me-k+top)%r.size, acc); err != nil {
				return err
			}
			break
		}
		if me+k < r.size {
			if err := r.recv((me+k+top)%r.size, in); err != nil {
				return err
			}
			r.op.f.combine(viewOf[T](acc), viewOf[T](in)) // what came is of higher ranks
			acc, in = in, acc
		}
	}
	return r.deliver(acc, bytesOf(recv), top, root)
}

// deliver takes the result from rank top to root.
func (r reduction[T]) deliver(acc, recv []byte, top, root int) error {
	switch r.rank {
	case root:
		if root == top {
			copy(recv, acc)
			return nil
		}
		return r.recv(top, recv[:len(acc)])
	case top:
		return r.send(root, acc)
	}
	return nil
}

func align8(n int) int { return (n + 7) &^ 7 }

// ringReduce has each rank combine its share, and root collect the shares.
func (r reduction[T]) ringReduce(send, recv []T, root int) error {
	b := bytesOf(send)
	mem, s := borrow(len(b))
	defer s.release()
	copy(mem, b)
	if err := r.ringShares(mem); err != nil {
		return err
	}
	size := sizeOf[T]()
	if r.rank != root {
		return r.send(root, part(mem, r.rank, r.size, size))
	}
	out := bytesOf(recv)[:len(b)]
	for i := range r.size {
		if i == root {
			copy(part(out, i, r.size, size), part(mem, i, r.size, size))
		} else if err := r.recv(i, part(out, i, r.size, size)); err != nil {
			return err
		}
	}
	return nil
}

// ringShares leaves in part i of rank i's acc the result of part i over all ranks: a part travels once round the ring, and each
// rank adds its own.
func (r reduction[T]) ringShares(acc []byte) error {
	size := sizeOf[T]()
	tmp, s := borrow(len(part(acc, r.size-1, r.size, size)) + size)
	defer s.release()
	right, left := (r.rank+1)%r.size, (r.rank-1+r.size)%r.size
	for step := range r.size - 1 {
		out := part(acc, (r.rank-step-1+2*r.size)%r.size, r.size, size)
		mine := part(acc, (r.rank-step-2+2*r.size)%r.size, r.size, size)
		in := tmp[:len(mine)]
		if err := r.exchange(right, out, left, in); err != nil {
			return err
		}
		r.op.f.combine(viewOf[T](in), viewOf[T](mine))
	}
	return nil
}
