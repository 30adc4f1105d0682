package mpi

import "github.com/golci/golci/comm"

// reduceSegment is how many bytes of a long vector travel in one message of a reduction. One segment is combined, out
// of the cache, while the next is on its way.
const reduceSegment = 128 << 10

// reduceWhole is up to how many bytes a vector travels in one message, for which a rank prepares when it wants it.
const reduceWhole = 8 << 10

// Reduce combines send of all ranks with op, element by element, into recv of rank root (6.9.1). recv is used at root only
// and must be as long as send there, or longer, and must not overlap it. send of root may be InPlace: recv then holds what it
// contributes. It waits, and may switch threads. Errors: ErrRoot, ErrOp, ErrType, ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent,
// ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Reduce[T any](c *Comm, send, recv []T, op Op[T], root int) error {
	return reduceAs(c, kindReduce, send, recv, op, root)
}

// reduceAs is Reduce for a collective of kind k.
func reduceAs[T any](c *Comm, k kind, send, recv []T, op Op[T], root int) error {
	f := op.reducer()
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	r := &reduction{x, f, sizeOf[T]()}
	return x.end(r.reduce(bytesOf(send), bytesOf(recv), root))
}

// reduction is one call of a reduction on one rank. The vectors of its methods are bytes of whole elements.
type reduction struct {
	*coll
	op   reducer
	elem int // bytes of an element
}

func (r *reduction) reduce(send, recv []byte, root int) error {
	if err := r.root(root); err != nil {
		return err
	}
	send, recv, err := r.vectors(send, recv, r.rank == root)
	if err != nil {
		return err
	}
	if len(send) <= reduceSegment {
		r.take(wayReduceTree, root)
	} else {
		r.take(wayReduceParts, root)
		r.lastTag = collTag(r.size, wayReduceEnd, root, r.call)
	}
	return r.tree(send, recv, root)
}

// vectors gives what the rank contributes and where the result goes, which is nil where there is none.
func (r *reduction) vectors(send, recv []byte, result bool) (in, out []byte, err error) {
	switch {
	case r.op.combiner == nil:
		return nil, nil, r.errorf(ErrOp, "the operation has no function")
	case !result:
		return send, nil, r.notPlace("send", send)
	case inPlace(send):
		return recv, recv, r.notPlace("receive", recv)
	}
	if err := r.apart(send, recv); err != nil {
		return nil, nil, err
	}
	elem := max(1, r.elem)
	if err := r.lengthFor("receive", len(recv)/elem, len(send)/elem); err != nil {
		return nil, nil, err
	}
	return send, recv[:len(send)], nil
}

// pendingRecv is a segment that is on its way.
type pendingRecv struct {
	req     comm.Req
	at, end int // bytes of the vector
	from    below
	buf     []byte
}

// below is a rank from which a rank gets the result of a run of ranks, which are lower than its own or higher.
type below struct {
	rank  int
	lower bool
}

// branch is the place of a rank in the tree of a reduction.
type branch struct {
	from [24]below // more than a job can have steps
	n    int       // of from in use
	to   int       // who gets the result, or -1
}

// branch finds the place of the calling rank. The tree combines the same runs of ranks whatever root is, and the same as
// recursive doubling does: first those that are too many for a power of two, in pairs, then runs that are twice as long in
// each step. Of two runs the rank that holds the result of one gets that of the other: root, or else that of the lower run.
func (x *coll) branch(root int) *branch {
	b := &x.st.tree
	b.n, b.to = 0, -1
	power := 1
	for power*2 <= x.size {
		power *= 2
	}
	extra := x.size - power
	number := func(rank int) int { return max(rank/2, rank-extra) } // in the steps
	if x.rank < 2*extra {
		holder := x.rank | 1
		if root/2 == x.rank/2 {
			holder = root
		}
		if x.rank != holder {
			b.to = holder
			return b
		}
		b.add(x.rank^1, x.rank&1 == 1)
	}
	me, top := number(x.rank), number(root)
	for k := 1; k < power; k *= 2 {
		first := me &^ (k - 1) // of my run
		other := first ^ k     // of the other one
		low := min(first, other)
		holder := func(run int) int {
			if run == top&^(k-1) {
				return root
			}
			return actual(run, extra)
		}
		if top&^(2*k-1) != low && first != low || top&^(k-1) == other {
			b.to = holder(other)
			return b
		}
		b.add(holder(other), other == low)
	}
	return b
}

func (b *branch) add(rank int, lower bool) {
	b.from[b.n] = below{rank, lower}
	b.n++
}

// tree combines what comes from below with the rank's own vector, and passes it up. Who has nothing to combine sends from send;
// root combines into recv.
func (r *reduction) tree(send, recv []byte, root int) error {
	b := r.branch(root)
	if b.n == 0 {
		if b.to < 0 {
			return r.place(recv, send)
		}
		return r.sendUp(b, send)
	}
	if len(send) <= reduceWhole {
		return r.whole(b, send, recv)
	}
	segment := r.segment(len(send))
	bytes := align8(segment)
	need := 2 * bytes
	if b.to >= 0 {
		need += len(send)
	}
	mem, s := r.borrow(need)
	defer s.release()
	if b.to >= 0 {
		recv = mem[2*bytes:]
	}
	return r.gatherUpwards(b, send, recv, segment, [2][]byte{mem[:bytes], mem[bytes:][:bytes]})
}

// whole is tree for a vector that is one short message.
func (r *reduction) whole(b *branch, send, acc []byte) error {
	bytes := align8(len(send))
	mem, s := r.borrow(2 * bytes)
	defer s.release()
	in := mem[:len(send)]
	if b.to >= 0 {
		acc = mem[bytes:][:len(send)]
	}
	own := send
	for _, from := range b.from[:b.n] {
		if err := r.recv(from.rank, in); err != nil {
			return err
		}
		if err := r.join(acc, own, in, from.lower); err != nil {
			return err
		}
		own = acc
	}
	if b.to < 0 {
		return nil
	}
	return r.send(b.to, acc)
}

// join combines the rank's own part with what has come, of lower ranks or of higher ones.
func (r *reduction) join(out, own, in []byte, lower bool) error {
	if lower {
		return r.combine(out, in, own)
	}
	return r.combine(out, own, in)
}

// combine sets out to low op high.
func (r *reduction) combine(out, low, high []byte) error {
	if r.op.user {
		return r.guarded(out, low, high)
	}
	r.op.into(out, low, high)
	return nil
}

// guarded calls what may panic. The call then ends with an error, so that all that is under way ends, and the other
// ranks are told; after that the panic goes on. It cannot be so where the goroutine ends instead (runtime.Goexit).
func (r *reduction) guarded(out, low, high []byte) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v != nil {
			r.panic, err = v, r.errorf(ErrOp, "the operation panics: %v", v)
			return
		}
		if r.scratch != nil {
			r.scratch.lost = true
		}
		_ = r.end(r.errorf(ErrOp, "the operation ends its goroutine"))
	}()
	r.op.into(out, low, high)
	returned = true
	return nil
}

// segment is how many bytes of n travel in one message: whole elements.
func (r *reduction) segment(n int) int {
	return min(n, max(1, reduceSegment/max(1, r.elem))*max(1, r.elem))
}

// tagFor has the next message carry the tag of those up to byte end of n.
func (r *reduction) tagFor(end, n int) {
	r.use = r.tag
	if end == n {
		r.use = r.lastTag
	}
}

// sendUp sends all segments at once: their receiver asks for them one after the other.
func (r *reduction) sendUp(b *branch, v []byte) error {
	f := r.flight()
	defer f.end()
	segment := r.segment(len(v))
	for at := 0; ; at += segment {
		end := min(at+segment, len(v))
		r.tagFor(end, len(v))
		f.send(b.to, v[at:end])
		if end == len(v) {
			return f.wait()
		}
	}
}

// gatherUpwards receives each segment from each source, the next into one of in while one from the other is combined.
func (r *reduction) gatherUpwards(b *branch, send, acc []byte, segment int, in [2][]byte) error {
	n := len(send)
	steps := b.n * max(1, (n+segment-1)/segment)
	r.terms.Alone = true // the bytes are read next, and the buffers are used again and again
	var reqs [2]pendingRecv
	post := func(q int) error {
		at := q / b.n * segment
		end := min(at+segment, n)
		r.tagFor(end, n)
		from := b.from[q%b.n]
		p := pendingRecv{at: at, end: end, from: from, buf: in[q%2][:end-at]}
		var err error
		p.req, err = r.irecv(from.rank, p.buf)
		reqs[q%2] = p
		return err
	}
	err := post(0)
	for q := 0; err == nil && q < steps; q++ {
		if q+1 < steps {
			if err = post(q + 1); err != nil {
				r.drop(reqs[q%2].req)
				break
			}
		}
		own, to := acc, -1
		if q%b.n == 0 {
			own = send
		}
		if q%b.n == b.n-1 {
			to = b.to
		}
		if err = r.step(&reqs[q%2], own, acc, to); err != nil && q+1 < steps {
			r.fail(err) // before the wait for what is dropped
			r.drop(reqs[(q+1)%2].req)
		}
	}
	return err
}

// step waits for a segment, combines it with that of own into acc, and passes the result on, unless to is -1.
func (r *reduction) step(p *pendingRecv, own, acc []byte, to int) error {
	if err := r.received(p.req, p.from.rank, p.buf); err != nil {
		return err
	}
	out := acc[p.at:p.end]
	if err := r.join(out, own[p.at:p.end], p.buf, p.from.lower); err != nil || to < 0 {
		return err
	}
	r.tagFor(p.end, len(acc))
	return r.send(to, out)
}

func align8(n int) int { return (n + 7) &^ 7 }
