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
	return blocking(c, "Gather", send, recv, root, (*coll).gather)
}

// direction says which buffer of a gather or scatter has one part and which has the parts of all ranks, which is used
// at root only.
type direction struct {
	own, all         schedule.Buf
	ownName, allName string
	tree, direct     way // of equal parts
	each             way // of parts of different lengths
}

var (
	gathering  = direction{schedule.In, schedule.Out, "send", "receive", wayGatherTree, wayGatherAll, wayGatherv}
	scattering = direction{schedule.Out, schedule.In, "receive", "send", wayScatterTree, wayScatterAll, wayScatterv}
)

// equalParts checks root and the buffers of a gather or scatter of equal parts, and chooses the way.
func (x *coll) equalParts(d *direction, root int) (w way, of contribution, err error) {
	own, all := &x.buf[d.own], &x.buf[d.all]
	if err = x.root(root); err != nil {
		return w, of, err
	}
	if x.rank == root {
		of.inPlace = inPlace(own.mem)
		own.mem, err = x.equalOwn(own.mem, all.mem, d.allName, own.size)
	} else {
		err = x.notPlace(d.ownName, own.mem)
	}
	of.bytes, w = len(own.mem), d.tree
	if of.bytes > gatherTree || x.size <= 2 {
		w = d.direct
	}
	return w, of, err
}

// givenParts is equalParts for parts of different lengths. It takes the way, and gives the places of the parts at root.
func (x *coll) givenParts(d *direction, counts, displs []int, root int) (p *schedule.Parts, placed bool, err error) {
	own, all := &x.buf[d.own], &x.buf[d.all]
	if err = x.root(root); err != nil {
		return nil, false, err
	}
	x.take(d.each, root)
	if x.rank != root {
		return nil, false, x.notPlace(d.ownName, own.mem)
	}
	placed = inPlace(own.mem)
	l, err := x.layout(d.allName, all.len, counts, displs, d.all == schedule.Out)
	if err == nil {
		own.mem, err = x.partOwn(own.mem, all.mem, l, d.ownName, own.size)
	}
	return l.parts(d.all, own.size), placed, err
}

func (x *coll) gather(root int) error {
	w, of, err := x.equalParts(&gathering, root)
	switch {
	case err != nil || !x.plan(w, root, of):
		return err
	case w == wayGatherAll:
		x.steps.GatherAll(x.place(), root, of.bytes, &schedule.Parts{Buf: schedule.Out, Each: of.bytes}, of.inPlace)
	default:
		x.steps.GatherTree(x.place(), root, of.bytes)
	}
	return nil
}

// Gatherv is Gather for parts of different lengths: that of rank i has counts[i] elements and goes to
// recv[displs[i]:] (6.5). counts and displs, in elements, are used at root only; nil displs puts the parts one behind
// the other. send of root may be InPlace. Errors as for Gather.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	return blocking(c, "Gatherv", send, recv, root, func(x *coll, root int) error {
		return x.gatherv(counts, displs, root)
	})
}

func (x *coll) gatherv(counts, displs []int, root int) error {
	parts, placed, err := x.givenParts(&gathering, counts, displs, root)
	if err == nil {
		x.fresh(wayGatherv).GatherAll(x.place(), root, len(x.buf[schedule.In].mem), parts, placed)
	}
	return err
}
