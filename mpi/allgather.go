package mpi

// allgatherBruck is up to how many bytes in all an allgather doubles what it holds in each step, at the price of a
// copy; above, the parts go round a ring.
const allgatherBruck = 32 << 10

// Allgather is Gather whose result all ranks get (6.7). recv must have room for size times len(send) elements.
// send may be InPlace: the own part then lies in its place in recv, which must be exactly as long as all parts. It waits, and may switch threads. Errors: ErrType, ErrCount,
// ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Allgather[T any](c *Comm, send, recv []T) error {
	return allgatherAs(c, kindAllgather, send, recv)
}

// allgatherAs is Allgather for a collective of kind k.
func allgatherAs[T any](c *Comm, k kind, send, recv []T) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.end(allgather(x, send, recv))
}

func allgather[T any](x *coll, send, recv []T) error {
	out := bytesOf(recv)
	b, err := x.equalOwn(bytesOf(send), out, "receive", sizeOf[T]())
	if err != nil {
		return err
	}
	n := len(b)
	if err := x.place(out[x.rank*n:][:n], b); err != nil {
		return err
	}
	if n*x.size <= allgatherBruck && x.size > 2 {
		x.take(wayAllgatherSteps, 0)
		return x.bruck(out[:n*x.size], n)
	}
	x.take(wayAllgatherRing, 0)
	return x.ring(b, func(i int) []byte { return out[i*n:][:n] })
}

// bruck: in each step a rank sends all parts that it holds, its own first, so that their number doubles.
func (x *coll) bruck(out []byte, n int) error {
	mem, s := x.borrow(n * x.size)
	defer s.release()
	copy(mem, out[x.rank*n:][:n])
	for have := 1; have < x.size; have *= 2 {
		more := min(have, x.size-have)
		to, from := (x.rank-have+x.size)%x.size, (x.rank+have)%x.size
		if err := x.exchange(to, mem[:more*n], from, mem[have*n:][:more*n]); err != nil {
			return err
		}
	}
	for i := range x.size {
		copy(out[(x.rank+i)%x.size*n:][:n], mem[i*n:])
	}
	return nil
}

// Allgatherv is Allgather for parts of different lengths: that of rank i has counts[i] elements, the same on all ranks, and goes
// to recv[displs[i]:] (6.7). nil displs puts the parts one behind the other. send may be InPlace. Errors as for Allgather.
func Allgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	x, err := start[T](c, kindAllgatherv)
	if err != nil {
		return err
	}
	return x.end(allgatherv(x, send, recv, counts, displs))
}

func allgatherv[T any](x *coll, send, recv []T, counts, displs []int) error {
	l, err := x.layout("receive", len(recv), counts, displs, true)
	if err != nil {
		return err
	}
	out, size := bytesOf(recv), sizeOf[T]()
	b, err := x.partOwn(bytesOf(send), out, l, "send", size)
	if err != nil {
		return err
	}
	if err := x.place(l.part(out, x.rank, size), b); err != nil {
		return err
	}
	x.take(wayAllgatherv, 0)
	return x.ring(b, func(i int) []byte { return l.part(out, i, size) })
}
