package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/shmcoll"
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

// chooseEqualParts checks root and the buffers of a gather or scatter of equal parts, and builds its schedule.
func (x *Call) chooseEqualParts(d *direction, root int) (err error) {
	own, all := &x.buf[d.own], &x.buf[d.all]
	if err = x.checkRoot(root); err != nil {
		return err
	}
	placed := x.rank == root && argument.IsInPlace(own.mem)
	if x.rank == root {
		own.mem, err = x.equalOwn(own.mem, all.mem, d.allName, own.size)
	} else {
		err = x.checkNotPlace(d.ownName, own.mem)
	}
	if err != nil {
		return err
	}
	if x.shmRooted(d, len(own.mem)) {
		return x.overShm(d.shm, root, len(own.mem))
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

// chooseGivenParts is chooseEqualParts for parts of different lengths.
func (x *Call) chooseGivenParts(d *direction, p *argument.Parts, root int) (err error) {
	own, all := &x.buf[d.own], &x.buf[d.all]
	if err = x.checkRoot(root); err != nil {
		return err
	}
	x.takeAlgorithm(d.each, root)
	var l layout
	placed := x.rank == root && argument.IsInPlace(own.mem)
	if x.rank != root {
		err = x.checkNotPlace(d.ownName, own.mem)
	} else if l, err = x.layout(d.allName, all.len, p, !d.down); err == nil {
		own.mem, err = x.partOwn(own.mem, all.mem, l, d.ownName, own.size)
	}
	if err == nil {
		how := schedule.Rooted{Root: root, N: len(own.mem), Down: d.down, InPlace: placed}
		x.fresh(d.each).Star(x.schedulePlace(), how, l.partsOf(d.all, own.size))
	}
	return err
}

// shmRooted tells that a gather or scatter of n bytes of each rank goes through the shared segment.
func (x *Call) shmRooted(d *direction, n int) bool {
	if d.down {
		n *= x.size
	}
	return x.canUseShm() && n <= shmcoll.Short
}
