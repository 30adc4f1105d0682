package mpi

// alltoallAtOnce is up to how many bytes for a rank all parts are sent at once; above, the ranks pair up, round after
// round, so that no receiver is flooded.
const alltoallAtOnce = 4 << 10

// Alltoall sends part j of send to rank j, where it becomes part i of recv, i being the sender (6.8). send and recv are size
// equal parts each, and must not overlap. It waits, and may switch threads. Errors: ErrType, ErrCount, ErrTruncate, ErrBuffer,
// ErrComm, ErrFinalized, ErrAborted, ErrPeer.
func Alltoall[T any](c *Comm, send, recv []T) error {
	x, err := c.begin(wayAlltoallAll, plainError[T]())
	if err != nil {
		return err
	}
	return x.end(alltoall(x, send, recv))
}

func alltoall[T any](x *coll, send, recv []T) error {
	if len(send)%x.size != 0 {
		return x.errorf(ErrCount, "%d elements are no whole number for each of %d ranks", len(send), x.size)
	}
	if err := x.lengthFor("receive", len(recv), len(send)); err != nil {
		return err
	}
	in, out := bytesOf(send), bytesOf(recv)
	if overlap(in, out) {
		return x.errorf(ErrBuffer, "send and receive buffer overlap")
	}
	n := len(in) / x.size
	from := func(i int) []byte { return in[i*n:][:n] }
	to := func(i int) []byte { return out[i*n:][:n] }
	if n <= alltoallAtOnce && x.size > 2 {
		x.take(wayAlltoallAll, 0)
		return x.allAtOnce(from, to)
	}
	x.take(wayAlltoallPairs, 0)
	return x.pairwise(from, to)
}

func (x *coll) allAtOnce(from, to func(i int) []byte) error {
	f := x.flight()
	defer f.end()
	for d := 1; d < x.size; d++ {
		i := (x.rank + x.size - d) % x.size
		f.recv(i, to(i))
	}
	for d := 1; d < x.size; d++ {
		i := (x.rank + d) % x.size
		f.send(i, from(i))
	}
	copy(to(x.rank), from(x.rank))
	return f.wait()
}

// pairwise: in round d a rank sends to the one d further and receives from the one d before.
func (x *coll) pairwise(from, to func(i int) []byte) error {
	copy(to(x.rank), from(x.rank))
	for d := 1; d < x.size; d++ {
		right, left := (x.rank+d)%x.size, (x.rank-d+x.size)%x.size
		if err := x.exchange(right, from(right), left, to(left)); err != nil {
			return err
		}
	}
	return nil
}

// Alltoallv is Alltoall for parts of different lengths: what goes to rank j is scounts[j] elements from send[sdispls[j]:], and what
// comes from rank i is rcounts[i] elements, into recv[rdispls[i]:] (6.8). nil displacements have the parts one behind the other.
// Errors as for Alltoall.
func Alltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	x, err := c.begin(wayAlltoallv, plainError[T]())
	if err != nil {
		return err
	}
	return x.end(alltoallv(x, send, scounts, sdispls, recv, rcounts, rdispls))
}

func alltoallv[T any](x *coll, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	ls, err := x.layout("send", len(send), scounts, sdispls, false)
	if err != nil {
		return err
	}
	lr, err := x.layout("receive", len(recv), rcounts, rdispls, true)
	if err != nil {
		return err
	}
	in, out, size := bytesOf(send), bytesOf(recv), sizeOf[T]()
	if overlap(in, out) {
		return x.errorf(ErrBuffer, "send and receive buffer overlap")
	}
	if scounts[x.rank] != rcounts[x.rank] {
		return x.errorf(ErrCount, "to itself the rank sends %d elements and receives %d", scounts[x.rank], rcounts[x.rank])
	}
	x.take(wayAlltoallv, 0)
	return x.pairwise(
		func(i int) []byte { return ls.part(in, i, size) },
		func(i int) []byte { return lr.part(out, i, size) },
	)
}
