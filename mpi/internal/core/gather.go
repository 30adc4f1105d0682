package core

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// direction is a gather or a scatter. It says which buffer has one part and which has the parts of all ranks, which is
// used at root only.
type direction struct {
	down             bool
	own, all         schedule.Buf
	ownName, allName string
	tree, direct     algorithm.Algorithm // of equal parts
	each             algorithm.Algorithm // of parts of different lengths
	shm              algorithm.Algorithm // of short equal parts, through the shared segment
}

var (
	gathering = direction{
		false, schedule.In, schedule.Out, "send", "receive", algorithm.GatherTree, algorithm.GatherAll, algorithm.Gatherv,
		algorithm.ShmGather,
	}
	scattering = direction{
		true, schedule.Out, schedule.In, "receive", "send", algorithm.ScatterTree, algorithm.ScatterAll,
		algorithm.Scatterv, algorithm.ShmScatter,
	}
)

// Gather collects the In of all ranks, equally long, in the Out of root.
func (x *Call) Gather(root int) error { return x.equalParts(&gathering, root) }

// equalParts checks root and the buffers of a gather or scatter of equal parts, and builds its schedule.
func (x *Call) equalParts(d *direction, root int) (err error) {
	own, all := &x.buf[d.own], &x.buf[d.all]
	if err = x.root(root); err != nil {
		return err
	}
	placed := x.rank == root && inPlace(own.mem)
	if x.rank == root {
		own.mem, err = x.equalOwn(own.mem, all.mem, d.allName, own.size)
	} else {
		err = x.NotPlace(d.ownName, own.mem)
	}
	if err != nil {
		return err
	}
	if f := x.shmRooted(d, len(own.mem)); f != nil {
		return x.overShm(d.shm, root, len(own.mem), f)
	}
	n, w := len(own.mem), d.direct
	if algorithm.GathersByTree(x.size, n) {
		w = d.tree
	}
	how := schedule.Rooted{Root: root, N: n, Down: d.down, InPlace: placed}
	switch {
	case !x.plan(w, root, contribution{bytes: n, inPlace: placed}):
	case w == d.tree:
		x.steps.Tree(x.schedulePlace(), how)
	default:
		x.steps.Star(x.schedulePlace(), how, &schedule.Parts{Buf: d.all, Each: n})
	}
	return nil
}

// givenParts is equalParts for parts of different lengths.
func (x *Call) givenParts(d *direction, counts, displs []int, root int) (err error) {
	own, all := &x.buf[d.own], &x.buf[d.all]
	if err = x.root(root); err != nil {
		return err
	}
	x.takeAlgorithm(d.each, root)
	var l layout
	placed := x.rank == root && inPlace(own.mem)
	if x.rank != root {
		err = x.NotPlace(d.ownName, own.mem)
	} else if l, err = x.layout(d.allName, all.len, counts, displs, !d.down); err == nil {
		own.mem, err = x.partOwn(own.mem, all.mem, l, d.ownName, own.size)
	}
	if err == nil {
		how := schedule.Rooted{Root: root, N: len(own.mem), Down: d.down, InPlace: placed}
		x.fresh(d.each).Star(x.schedulePlace(), how, l.partsOf(d.all, own.size))
	}
	return err
}

// Gatherv is Gather for parts of counts elements, which go to displs; both are used at root only.
func (x *Call) Gatherv(counts, displs []int, root int) error {
	return x.givenParts(&gathering, counts, displs, root)
}
