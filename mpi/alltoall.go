package mpi

// alltoallAtOnce is up to how many bytes for a rank all parts are sent at once; above, the ranks pair up, round after
// round, so that no receiver is flooded.
const alltoallAtOnce = 4 << 10

// Alltoall sends part j of send to rank j, where it becomes part i of recv, i being the sender (6.8). send and recv
// are size equal parts each, and must not overlap. send may be InPlace: recv then holds what is sent, and what comes
// replaces it; a copy of recv is made. It waits, and may switch threads. Errors: ErrType, ErrCount,
// ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Alltoall[T any](c *Comm, send, recv []T) error {
	x, err := start[T](c, kindAlltoall)
	if err != nil {
		return err
	}
	return x.end(alltoall(x, send, recv))
}

func alltoall[T any](x *coll, send, recv []T) error {
	in, out := bytesOf(send), bytesOf(recv)
	count := len(send)
	if inPlace(in) {
		count = len(recv)
		tmp, s := x.borrow(len(out))
		defer s.release()
		copy(tmp, out)
		in = tmp
	}
	if count%x.size != 0 {
		return x.errorf(ErrCount, "%d elements are no whole number for each of %d ranks", count, x.size)
	}
	if err := x.apart(in, out); err != nil {
		return err
	}
	if err := x.lengthFor("receive", len(recv), count); err != nil {
		return err
	}
	n := len(in)
	if x.size > 1 {
		n /= x.size
	}
	from, to := parts{mem: in, each: n}, parts{mem: out, each: n}
	if n <= alltoallAtOnce && x.size > 2 {
		x.take(wayAlltoallAll, 0)
		return x.allAtOnce(&from, &to)
	}
	x.take(wayAlltoallPairs, 0)
	return x.pairwise(&from, &to)
}

// parts are the ranks' parts of a buffer.
type parts struct {
	mem  []byte
	each int    // their length in bytes, if that is the same for all; else:
	lie  layout // where they are, in elements
	size int    // of an element in bytes
}

func (p *parts) of(i int) []byte {
	if p.lie.counts == nil {
		return p.mem[i*p.each:][:p.each]
	}
	return p.lie.part(p.mem, i, p.size)
}

func (x *coll) allAtOnce(from, to *parts) error {
	f := x.flight()
	defer f.end()
	for d := 1; d < x.size; d++ {
		i := (x.rank + x.size - d) % x.size
		f.recv(i, to.of(i))
	}
	for d := 1; d < x.size; d++ {
		i := (x.rank + d) % x.size
		f.send(i, from.of(i))
	}
	copy(to.of(x.rank), from.of(x.rank))
	return f.wait()
}

// pairwise: in round d a rank sends to the one d further and receives from the one d before. It copies its own part
// while the first message is on its way.
func (x *coll) pairwise(from, to *parts) error {
	if x.size == 1 {
		copy(to.of(0), from.of(0))
	}
	for d := 1; d < x.size; d++ {
		right, left := x.after(d), x.before(d)
		r, err := x.isend(right, from.of(right))
		if err != nil {
			return err
		}
		if d == 1 {
			copy(to.of(x.rank), from.of(x.rank))
		}
		if err := x.complete(r, right, from.of(right), left, to.of(left)); err != nil {
			return err
		}
	}
	return nil
}

// Alltoallv is Alltoall for parts of different lengths: what goes to rank j is scounts[j] elements from send[sdispls[j]:], and what
// comes from rank i is rcounts[i] elements, into recv[rdispls[i]:] (6.8). nil displacements have the parts one behind the other.
// send may be InPlace: scounts and sdispls are then not used, and what goes to rank j is as long as what comes from it.
// Errors as for Alltoall.
func Alltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	x, err := start[T](c, kindAlltoallv)
	if err != nil {
		return err
	}
	return x.end(alltoallv(x, send, scounts, sdispls, recv, rcounts, rdispls))
}

func alltoallv[T any](x *coll, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	lr, err := x.layout("receive", len(recv), rcounts, rdispls, true)
	if err != nil {
		return err
	}
	in, out, size := bytesOf(send), bytesOf(recv), sizeOf[T]()
	ls := lr
	if inPlace(in) {
		scounts = rcounts
		tmp, s := x.borrow(len(out))
		defer s.release()
		copy(tmp, out)
		in = tmp
	} else if ls, err = x.layout("send", len(send), scounts, sdispls, false); err != nil {
		return err
	}
	if err := x.apart(in, out); err != nil {
		return err
	}
	if scounts[x.rank] != rcounts[x.rank] {
		return x.errorf(ErrCount, "to itself the rank sends %d elements and receives %d", scounts[x.rank], rcounts[x.rank])
	}
	x.take(wayAlltoallv, 0)
	return x.pairwise(&parts{mem: in, lie: ls, size: size}, &parts{mem: out, lie: lr, size: size})
}
