package mpi

// Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast scatters the parts and has the ranks pass them
// round a ring, so that no rank sends the whole more than twice; below, a binomial tree has fewer steps.
const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// Bcast sends buf of rank root to all ranks of c, into their buf, which must be equally long (6.4). It waits, and
// may switch threads. Errors: ErrRoot, ErrType, ErrCount or ErrTruncate where lengths differ, ErrComm,
// ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Bcast[T any](c *Comm, buf []T, root int) error {
	return bcastAs(c, kindBcast, buf, root)
}

// bcastAs is Bcast for a collective of kind k.
func bcastAs[T any](c *Comm, k kind, buf []T, root int) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.end(x.bcast(bytesOf(buf), sizeOf[T](), root))
}

func (x *coll) bcast(b []byte, size, root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	if err := x.notPlace("broadcast", b); err != nil {
		return err
	}
	if len(b) > bcastLarge && x.size >= bcastRanks && len(b)/size >= x.size {
		x.take(wayBcastRing, root)
		return x.bcastRing(b, size, root)
	}
	x.take(wayBcastTree, root)
	return x.bcastTree(b, root)
}

// bcastTree: the rank whose number, counted from root, has lowest bit k receives from the one without that bit, and
// sends on to those with a lower bit set.
func (x *coll) bcastTree(b []byte, root int) error {
	me := (x.rank - root + x.size) % x.size
	k := 1
	for ; k < x.size; k *= 2 {
		if me&k != 0 {
			if err := x.recv((me-k+root)%x.size, b); err != nil {
				return err
			}
			break
		}
	}
	for k /= 2; k > 0; k /= 2 {
		if me+k < x.size {
			if err := x.send((me+k+root)%x.size, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// bcastRing has root deal the parts out, and then all pass them round.
func (x *coll) bcastRing(b []byte, size, root int) error {
	if err := x.deal(b, size, root); err != nil {
		return err
	}
	block := func(i int) []byte { return part(b, i, x.size, size) }
	return x.ring(block(x.rank), block)
}

// deal gives each rank its part of root's b, in the same place.
func (x *coll) deal(b []byte, size, root int) error {
	if x.rank != root {
		return x.recv(root, part(b, x.rank, x.size, size))
	}
	for i := 1; i < x.size; i++ {
		to := (root + i) % x.size
		if err := x.send(to, part(b, to, x.size, size)); err != nil {
			return err
		}
	}
	return nil
}

// ring has every rank, which has its own block, get all blocks: each passes on to the right what came from the left.
// own are the bytes of its block, wherever they are.
func (x *coll) ring(own []byte, block func(i int) []byte) error {
	right, left := x.after(1), x.before(1)
	for out, step := own, 1; step < x.size; step++ {
		in := block(x.before(step))
		if err := x.exchange(right, out, left, in); err != nil {
			return err
		}
		out = in
	}
	return nil
}
