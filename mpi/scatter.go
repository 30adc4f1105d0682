package mpi

// Scatter gives each rank its part of send of rank root, in recv (6.6): rank i gets len(recv) elements from
// send[i*len(recv):]. send is used at root only and must be size times as long as recv, or longer. recv of root may be InPlace: its
// part then stays in send, which must be exactly as long as all parts. It waits, and may switch threads. Errors: ErrRoot, ErrType, ErrCount, ErrTruncate, ErrBuffer,
// ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	return scatterAs(c, kindScatter, send, recv, root)
}

// scatterAs is Scatter for a collective of kind k.
func scatterAs[T any](c *Comm, k kind, send, recv []T, root int) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.end(scatter(x, send, recv, root))
}

func scatter[T any](x *coll, send, recv []T, root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	b, in := bytesOf(recv), bytesOf(send)
	err := x.notPlace("receive", b)
	if x.rank == root {
		b, err = x.equalOwn(b, in, "send", sizeOf[T]())
	}
	if err != nil {
		return err
	}
	if len(b) > gatherTree || x.size <= 2 {
		x.take(wayScatterAll, root)
		return x.spread(b, root, func(i int) []byte { return in[i*len(b):][:len(b)] })
	}
	x.take(wayScatterTree, root)
	return x.scatterDown(in, b, root)
}

// scatterDown goes down a binomial tree; each rank gets the parts of a run of ranks, counted from root.
func (x *coll) scatterDown(send, b []byte, root int) error {
	me, n := (x.rank-root+x.size)%x.size, len(b)
	mem, s := x.borrow(n * x.size)
	defer s.release()
	if me == 0 {
		for i := range x.size {
			copy(mem[i*n:][:n], send[(i+root)%x.size*n:])
		}
	}
	k := 1
	for ; k < x.size; k *= 2 {
		if me&k != 0 {
			if err := x.recv((me-k+root)%x.size, mem[:n*min(k, x.size-me)]); err != nil {
				return err
			}
			break
		}
	}
	for k /= 2; k > 0; k /= 2 {
		if me+k < x.size {
			run := min(k, x.size-me-k)
			if err := x.send((me+k+root)%x.size, mem[n*k:][:n*run]); err != nil {
				return err
			}
		}
	}
	copy(b, mem[:n])
	return nil
}

// spread has root send everyone its part, from the places that part gives, into their b.
func (x *coll) spread(b []byte, root int, part func(i int) []byte) error {
	if x.rank != root {
		return x.recv(root, b)
	}
	f := x.flight()
	defer f.end()
	for i := range x.size {
		if i != root {
			f.send(i, part(i))
		}
	}
	if err := f.wait(); err != nil {
		return err
	}
	return x.place(b, part(root))
}

// Scatterv is Scatter for parts of different lengths: that of rank i has counts[i] elements and comes from send[displs[i]:] (6.6); recv
// of rank i must have counts[i] elements. counts and displs, in elements, are used at root only; nil displs has the parts one
// behind the other. Errors as for Scatter.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	x, err := start[T](c, kindScatterv)
	if err != nil {
		return err
	}
	return x.end(scatterv(x, send, counts, displs, recv, root))
}

func scatterv[T any](x *coll, send []T, counts, displs []int, recv []T, root int) error {
	if err := x.root(root); err != nil {
		return err
	}
	x.take(wayScatterv, root)
	b, size := bytesOf(recv), sizeOf[T]()
	if x.rank != root {
		if err := x.notPlace("receive", b); err != nil {
			return err
		}
		return x.recv(root, b)
	}
	l, err := x.layout("send", len(send), counts, displs, false)
	if err != nil {
		return err
	}
	in := bytesOf(send)
	if b, err = x.partOwn(b, in, l, "receive", size); err != nil {
		return err
	}
	return x.spread(b, root, func(i int) []byte { return l.part(in, i, size) })
}
