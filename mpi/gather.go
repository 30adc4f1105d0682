package mpi

// gatherTree is up to how many bytes of a rank a gather or scatter goes over a binomial tree, which has fewer steps but
// sends most bytes several times.
const gatherTree = 2 << 10

// Gather collects send of all ranks, equally long, in recv of rank root, by rank (6.5). recv is used at root only
// and must have room for size times len(send) elements. send of root may be InPlace: its part then lies in its place in
// recv, which must be exactly as long as all parts. It waits, and may switch threads. Errors: ErrRoot, ErrType, ErrCount, ErrTruncate, ErrBuffer, ErrComm,
// ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Gather[T any](c *Comm, send, recv []T, root int) error {
	return gatherAs(c, kindGather, send, recv, root)
}

// gatherAs is Gather for a collective of kind k.
func gatherAs[T any](c *Comm, k kind, send, recv []T, root int) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.end(gather(x, send, recv, root))
}

func gather[T any](x *coll, send, recv []T, root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	b, out := bytesOf(send), bytesOf(recv)
	err := x.notPlace("send", b)
	if x.rank == root {
		b, err = x.equalOwn(b, out, "receive", sizeOf[T]())
	}
	if err != nil {
		return err
	}
	if len(b) > gatherTree || x.size <= 2 {
		x.take(wayGatherAll, root)
		return x.collect(b, root, func(i int) []byte { return out[i*len(b):][:len(b)] })
	}
	x.take(wayGatherTree, root)
	return x.gatherUp(b, out, root)
}

// gatherUp goes up a binomial tree; each rank holds a run of ranks, counted from root.
func (x *coll) gatherUp(b, recv []byte, root int) error {
	me, n := (x.rank-root+x.size)%x.size, len(b)
	if err := x.ownPlace(recv, b, root); err != nil {
		return err
	}
	mem, s := x.borrow(n * x.size)
	defer s.release()
	copy(mem, b)
	for k := 1; k < x.size; k *= 2 {
		if me&k != 0 {
			return x.send((me-k+root)%x.size, mem[:n*min(k, x.size-me)])
		}
		if me+k < x.size {
			run := min(k, x.size-me-k)
			if err := x.recv((me+k+root)%x.size, mem[n*k:][:n*run]); err != nil {
				return err
			}
		}
	}
	for i := 1; i < x.size; i++ { // only root gets here
		copy(recv[(i+root)%x.size*n:][:n], mem[i*n:])
	}
	return nil
}

// ownPlace puts root's own part in its place.
func (x *coll) ownPlace(recv, b []byte, root int) error {
	if x.rank != root {
		return nil
	}
	return x.place(recv[root*len(b):][:len(b)], b)
}

// collect has root receive everyone's b in any order into the places that to gives.
func (x *coll) collect(b []byte, root int, to func(i int) []byte) error {
	if x.rank != root {
		return x.send(root, b)
	}
	if err := x.place(to(root), b); err != nil {
		return err
	}
	f := x.flight()
	defer f.end()
	for i := range x.size {
		if i != root {
			f.recv(i, to(i))
		}
	}
	return f.wait()
}

// Gatherv is Gather for parts of different lengths: that of rank i has counts[i] elements and goes to recv[displs[i]:] (6.5). counts
// and displs, in elements, are used at root only; nil displs puts the parts one behind the other. send of root may be InPlace. Errors as for Gather.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	x, err := start[T](c, kindGatherv)
	if err != nil {
		return err
	}
	return x.end(gatherv(x, send, recv, counts, displs, root))
}

func gatherv[T any](x *coll, send, recv []T, counts, displs []int, root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	x.take(wayGatherv, root)
	b, size := bytesOf(send), sizeOf[T]()
	if x.rank != root {
		if err := x.notPlace("send", b); err != nil {
			return err
		}
		return x.send(root, b)
	}
	l, err := x.layout("receive", len(recv), counts, displs, true)
	if err != nil {
		return err
	}
	out := bytesOf(recv)
	if b, err = x.partOwn(b, out, l, "send", size); err != nil {
		return err
	}
	return x.collect(b, root, func(i int) []byte { return l.part(out, i, size) })
}

// layout says where in a buffer the ranks' parts lie.
type layout struct{ counts, displs []int }

// layout checks counts and displacements against a buffer of n elements; parts of a buffer that is written to must not
// overlap.
func (x *coll) layout(name string, n int, counts, displs []int, written bool) (layout, error) {
	if len(counts) != x.size {
		return layout{}, x.errorf(ErrCount, "%d counts for the %s buffer, %d ranks", len(counts), name, x.size)
	}
	if displs == nil {
		return x.row(name, n, counts, written)
	}
	if len(displs) != x.size {
		return layout{}, x.errorf(ErrCount, "%d displacements for the %s buffer, %d ranks", len(displs), name, x.size)
	}
	for i, c := range counts {
		if d := displs[i]; c < 0 || d < 0 || c > n || d > n-c {
			return layout{}, x.partError(name, i, c, d, n)
		}
	}
	l := layout{counts, displs}
	if written && l.overlaps() {
		return layout{}, x.errorf(ErrBuffer, "parts of the %s buffer overlap", name)
	}
	return l, nil
}

// row is layout for parts one behind the other.
func (x *coll) row(name string, n int, counts []int, written bool) (layout, error) {
	displs := x.st.room(x.size, written)
	at := 0
	for i, c := range counts {
		if displs[i] = at; c < 0 || c > n-at {
			return layout{}, x.partError(name, i, c, at, n)
		}
		at += c
	}
	return layout{counts, displs}, nil
}

func (x *coll) partError(name string, i, count, at, n int) error {
	return x.errorf(ErrCount, "part %d of the %s buffer, %d elements at %d, is not within its %d", i, name, count, at, n)
}

// part is the i-th part of b, whose elements have size bytes.
func (l layout) part(b []byte, i, size int) []byte {
	return b[l.displs[i]*size:][:l.counts[i]*size]
}
