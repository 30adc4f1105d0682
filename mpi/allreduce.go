package mpi

// Allreduce is Reduce whose result all ranks get, into recv, which must be as long as send or longer, and must
// not overlap it; send may be InPlace (6.9.6). It waits, and may switch threads. Short vectors, and operations that are not commutative,
// go by recursive doubling; long ones round a ring, each rank combining its share. Errors: ErrOp, ErrType,
// ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted,
// ErrPeer.
func Allreduce[T any](c *Comm, send, recv []T, op Op[T]) error {
	_, err := allreduceAs(c, kindAllreduce, send, recv, op)
	return err
}

// allreduceAs is Allreduce for a collective of kind k. It gives the number of the call, too.
func allreduceAs[T any](c *Comm, k kind, send, recv []T, op Op[T]) (uint64, error) {
	f := op.reducer()
	x, err := start[T](c, k)
	if err != nil {
		return 0, err
	}
	call := x.call
	r := &reduction{x, f, sizeOf[T]()}
	return call, x.end(r.reduceAll(bytesOf(send), bytesOf(recv)))
}

func (r *reduction) reduceAll(send, recv []byte) error {
	send, recv, err := r.vectors(send, recv, true)
	if err != nil {
		return err
	}
	if r.large(len(send)) {
		r.take(wayAllreduceRing, 0)
		if err := r.shares(send, recv); err != nil {
			return err
		}
		block := func(i int) []byte { return part(recv, i, r.size, r.elem) }
		return r.ring(block(r.rank), block)
	}
	r.take(wayAllreduceSwap, 0)
	return r.doubling(send, recv)
}

// A commutative reduction of more bytes than this has each rank combine its share. Two ranks move as many bytes in
// either way, so they swap whole vectors for longer: that is one exchange in place of two.
const (
	reduceLarge = 64 << 10
	reducePair  = 512 << 10
)

// large tells whether that is so for a vector of n bytes.
func (r *reduction) large(n int) bool {
	most := reduceLarge
	if r.size == 2 {
		most = reducePair
	}
	return r.op.commute && n > most && n/r.elem >= r.size && r.size > 1
}

// shares leaves in part i of rank i's out the result of part i over all ranks, each of which sends its own. The parts are combined
// in the order of doubling, so that the result is the same to the last bit.
func (r *reduction) shares(send, out []byte) error {
	own, mine := part(send, r.rank, r.size, r.elem), part(out, r.rank, r.size, r.elem)
	mem, s := r.borrow(r.size * len(mine))
	defer s.release()
	parts := make([][]byte, r.size)
	parts[r.rank] = own
	f := r.flight()
	defer f.end()
	for d := 1; d < r.size; d++ {
		from := r.before(d)
		parts[from] = mem[from*len(mine):][:len(mine)]
		f.recv(from, parts[from])
	}
	for d := 1; d < r.size; d++ {
		to := r.after(d)
		f.send(to, part(send, to, r.size, r.elem))
	}
	if err := f.wait(); err != nil {
		return err
	}
	return r.combineAll(parts, own, mine)
}

// combineAll combines the parts of all ranks into out. It may change them, but for own, which is one of them.
func (r *reduction) combineAll(parts [][]byte, own, out []byte) (err error) {
	power := 1
	for power*2 <= r.size {
		power *= 2
	}
	extra := r.size - power
	join := func(low, high []byte, last bool) []byte {
		to := high
		if last || same(high, own) {
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
//
// What has been combined lies in out, and before that in send. There is no copy of it: lines that a peer has read are
// slow to write.
func (r *reduction) doubling(send, out []byte) error {
	tmp, s := r.borrow(len(out))
	defer s.release()
	power := 1
	for power*2 <= r.size {
		power *= 2
	}
	extra := r.size - power
	has, me, err := r.pairUp(send, out, tmp, extra)
	if err != nil {
		return err
	}
	for k := 1; me >= 0 && k < power; k *= 2 {
		peer := me ^ k
		if err := r.swap(has, out, tmp, actual(peer, extra), peer < me); err != nil {
			return err
		}
		has = out
	}
	if r.size == 1 {
		return r.place(out, send)
	}
	return r.unpair(out, extra)
}

// actual gives the rank with number me in the rounds.
func actual(me, extra int) int {
	if me < extra {
		return 2*me + 1
	}
	return me + extra
}

// pairUp combines the first 2*extra ranks two and two into the odd ones. It gives what the rank has then, and its
// number in the rounds, -1 for those that sit out.
func (r *reduction) pairUp(send, out, tmp []byte, extra int) (has []byte, me int, err error) {
	switch {
	case r.rank >= 2*extra:
		return send, r.rank - extra, nil
	case r.rank%2 == 0:
		return nil, -1, r.send(r.rank+1, send)
	}
	if err := r.recv(r.rank-1, tmp); err != nil {
		return nil, 0, err
	}
	return out, r.rank / 2, r.join(out, send, tmp, true)
}

// unpair gives the result to those that sat out.
func (r *reduction) unpair(out []byte, extra int) error {
	switch {
	case r.rank >= 2*extra:
		return nil
	case r.rank%2 == 0:
		return r.recv(r.rank+1, out)
	}
	return r.send(r.rank-1, out)
}

// swap exchanges what two ranks have, and combines it into out. lower says that the other rank is the lower one.
func (r *reduction) swap(has, out, tmp []byte, peer int, lower bool) error {
	if err := r.exchange(peer, has, peer, tmp); err != nil {
		return err
	}
	return r.join(out, has, tmp, lower)
}
