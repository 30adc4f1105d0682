package mpi

import "github.com/golci/golci/internal/schedule"

// gatherTree is up to how many bytes of a rank a gather or scatter goes over a binomial tree, which has fewer steps but
// sends most bytes several times.
const gatherTree = 2 << 10

// Gather collects send of all ranks, equally long, in recv of rank root, by rank (6.5). recv is used at root only and
// must have room for size times len(send) elements. send of root may be InPlace: its part then lies in its place in
// recv, which must be exactly as long as all parts. It waits, and may switch threads. Errors: ErrRoot, ErrType,
// ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch, ErrCollective, ErrFinalized, ErrAborted,
// ErrPeer.
func Gather[T any](c *Comm, send, recv []T, root int) error {
	return gatherAs(c, kindGather, send, recv, root)
}

// gatherAs is Gather for a collective of kind k.
func gatherAs[T any](c *Comm, k kind, send, recv []T, root int) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.finish(take(x, send, recv).gather(root))
}

func (x *coll) gather(root int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	p := schedKey{way: wayGatherTree, root: root}
	err := x.notPlace("send", send.mem)
	if x.rank == root {
		p.inPlace = inPlace(send.mem)
		send.mem, err = x.equalOwn(send.mem, recv.mem, "receive", send.size)
	}
	if err != nil {
		return err
	}
	n := len(send.mem)
	if p.bytes = n; n > gatherTree || x.size <= 2 {
		p.way = wayGatherAll
	}
	x.take(p.way, root)
	switch {
	case !x.unplanned(p):
	case p.way == wayGatherAll:
		x.steps.GatherAll(x.place(), root, n, &schedule.Parts{Buf: schedule.Out, Each: n}, p.inPlace)
	default:
		x.steps.GatherTree(x.place(), root, n)
	}
	return nil
}

// Gatherv is Gather for parts of different lengths: that of rank i has counts[i] elements and goes to
// recv[displs[i]:] (6.5). counts and displs, in elements, are used at root only; nil displs puts the parts one behind
// the other. send of root may be InPlace. Errors as for Gather.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	x, err := start[T](c, kindGatherv)
	if err != nil {
		return err
	}
	return x.finish(take(x, send, recv).gatherv(counts, displs, root))
}

func (x *coll) gatherv(counts, displs []int, root int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	x.take(wayGatherv, root)
	var l layout
	own := inPlace(send.mem)
	err := x.notPlace("send", send.mem)
	if x.rank == root {
		if l, err = x.layout("receive", recv.len, counts, displs, true); err == nil {
			send.mem, err = x.partOwn(send.mem, recv.mem, l, "send", send.size)
		}
	}
	if err != nil {
		return err
	}
	x.fresh(wayGatherv).GatherAll(x.place(), root, len(send.mem), l.parts(schedule.Out, recv.size), own)
	return nil
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

// parts are those of buffer b of a call.
func (l layout) parts(b schedule.Buf, size int) *schedule.Parts {
	return &schedule.Parts{Buf: b, Counts: l.counts, Displs: l.displs, Size: size}
}
