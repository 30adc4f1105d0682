package mpi

// Allreduce is Reduce whose result all ranks get, into recv, which must be as long as send or longer, and may be
// the same slice (6.9.6). It waits, and may switch threads. Short vectors, and operations that are not commutative,
// go by recursive doubling; long ones round a ring, each rank combining its share. Errors: ErrOp, ErrType,
// ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted,
// ErrPeer.
func Allreduce[T any](c *Comm, send, recv []T, op Op[T]) error {
	_, err := allreduceAs(c, kindAllreduce, send, recv, op)
	return err
}

// allreduceAs is Allreduce for a collective of kind k. It gives the number of the call, too.
func allreduceAs[T any](c *Comm, k kind, send, recv []T, op Op[T]) (uint64, error) {
	x, err := start[T](c, k)
	if err != nil {
		return 0, err
	}
	call := x.call
	return call, x.end(reduceAll(x, send, recv, op))
}

func reduceAll[T any](x *coll, send, recv []T, op Op[T]) error {
	r := reduction[T]{x, op}
	if err := r.check(send, recv, true); err != nil {
		return err
	}
	recv = recv[:len(send)]
	out := bytesOf(recv)
	if r.large(len(send)) {
		x.take(wayAllreduceRing, 0)
		if err := r.shares(send, recv); err != nil {
			return err
		}
		return r.ring(func(i int) []byte { return part(out, i, r.size, sizeOf[T]()) })
	}
	x.take(wayAllreduceSwap, 0)
	if !same(bytesOf(send), out) {
		copy(out, bytesOf(send))
	}
	return r.doubling(out)
}

// reduceLarge is from how many bytes on each rank of a commutative reduction combines its share.
const reduceLarge = 64 << 10

func (r reduction[T]) large(n int) bool {
	return r.op.commute && n*sizeOf[T]() > reduceLarge && n >= r.size && r.size > 1
}

// shares leaves in part i of rank i's out the result of part i over all ranks, each of which sends its own. The parts are combined
// in the order of doubling, so that the result is the same to the last bit.
func (r reduction[T]) shares(send, out []T) error {
	size := sizeOf[T]()
	piece := func(v []T, i int) []T { return v[len(v)*i/r.size : len(v)*(i+1)/r.size] }
	mine := piece(out, r.rank)
	if err := r.place(bytesOf(mine), bytesOf(piece(send, r.rank))); err != nil {
		return err
	}
	mem, s := r.borrow(r.size * len(mine) * size)
	defer s.release()
	all := viewOf[T](mem)
	parts := make([][]T, r.size)
	f := r.flight()
	defer f.end()
	for d := range r.size {
		from := (r.rank - d + r.size) % r.size
		parts[from] = all[from*len(mine):][:len(mine)]
		if d == 0 {
			parts[from] = mine
			continue
		}
		f.recv(from, bytesOf(parts[from]))
	}
	for d := 1; d < r.size; d++ {
		to := (r.rank + d) % r.size
		f.send(to, bytesOf(piece(send, to)))
	}
	if err := f.wait(); err != nil {
		return err
	}
	return r.combineAll(parts, mine)
}

// combineAll combines the parts of all ranks into out, which is one of them.
func (r reduction[T]) combineAll(parts [][]T, out []T) (err error) {
	power := 1
	for power*2 <= r.size {
		power *= 2
	}
	extra := r.size - power
	join := func(low, high []T, last bool) []T {
		to := high
		if last {
			to = out
		}
		if err == nil {
			err = r.combine(to, low, high)
		}
		return to
	}
	for i := range power {
		if i < extra {
			parts[i] = join(parts[2*i], parts[2*i+1], power == 1)
		} else {
			parts[i] = parts[i+extra]
		}
	}
	for k := 1; k < power; k *= 2 {
		for i := 0; i < power; i += 2 * k {
			parts[i] = join(parts[i], parts[i+k], 2*k == power)
		}
	}
	return err
}

// doubling: in each round a rank swaps results with the one whose number differs in one bit, so that after round k both
// have the result of a run of 2^(k+1) ranks. If the ranks are no power of two, the first ones pair up before, and one of each
// pair sits the rounds out. Lower ranks always come first.
func (r reduction[T]) doubling(out []byte) error {
	tmp, s := r.borrow(len(out))
	defer s.release()
	acc := out
	power := 1
	for power*2 <= r.size {
		power *= 2
	}
	extra := r.size - power
	me, err := r.pairUp(&acc, &tmp, extra)
	if err != nil {
		return err
	}
	for k := 1; me >= 0 && k < power; k *= 2 {
		peer := me ^ k
		if err := r.swap(&acc, &tmp, actual(peer, extra), peer > me); err != nil {
			return err
		}
	}
	if err := r.unpair(acc, extra); err != nil {
		return err
	}
	if !same(acc, out) {
		copy(out, acc)
	}
	return nil
}

// actual gives the rank with number me in the rounds.
func actual(me, extra int) int {
	if me < extra {
		return 2*me + 1
	}
	return me + extra
}

// pairUp combines the first 2*extra ranks two and two into the odd ones, and gives the rank's number in the rounds, -1 for
// those that sit out.
func (r reduction[T]) pairUp(acc, tmp *[]byte, extra int) (int, error) {
	switch {
	case r.rank >= 2*extra:
		return r.rank - extra, nil
	case r.rank%2 == 0:
		return -1, r.send(r.rank+1, *acc)
	}
	if err := r.recv(r.rank-1, *tmp); err != nil {
		return 0, err
	}
	return r.rank / 2, r.combine(viewOf[T](*acc), viewOf[T](*tmp), viewOf[T](*acc))
}

// unpair gives the result to those that sat out.
func (r reduction[T]) unpair(acc []byte, extra int) error {
	switch {
	case r.rank >= 2*extra:
		return nil
	case r.rank%2 == 0:
		return r.recv(r.rank+1, acc)
	}
	return r.send(r.rank-1, acc)
}

// swap exchanges results with a rank and combines the two into acc.
func (r reduction[T]) swap(acc, tmp *[]byte, peer int, higher bool) error {
	if err := r.exchange(peer, *acc, peer, *tmp); err != nil {
		return err
	}
	if !higher {
		return r.combine(viewOf[T](*acc), viewOf[T](*tmp), viewOf[T](*acc))
	}
	err := r.combine(viewOf[T](*tmp), viewOf[T](*acc), viewOf[T](*tmp))
	*acc, *tmp = *tmp, *acc
	return err
}
