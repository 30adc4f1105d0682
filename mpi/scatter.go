package mpi

import "github.com/golci/golci/internal/schedule"

// Scatter gives each rank its part of send of rank root, in recv (6.6): rank i gets len(recv) elements from
// send[i*len(recv):]. send is used at root only and must be size times as long as recv, or longer. recv of root may
// be InPlace: its part then stays in send, which must be exactly as long as all parts. It waits, and may switch
// threads. Errors: ErrRoot, ErrType, ErrCount, ErrTruncate, ErrBuffer, ErrComm, ErrConcurrent, ErrMismatch,
// ErrCollective, ErrFinalized, ErrAborted, ErrPeer.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	return scatterAs(c, kindScatter, send, recv, root)
}

// scatterAs is Scatter for a collective of kind k.
func scatterAs[T any](c *Comm, k kind, send, recv []T, root int) error {
	x, err := start[T](c, k)
	if err != nil {
		return err
	}
	return x.finish(take(x, send, recv).scatter(root))
}

func (x *coll) scatter(root int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	p := schedKey{way: wayScatterTree, root: root}
	err := x.notPlace("receive", recv.mem)
	if x.rank == root {
		p.inPlace = inPlace(recv.mem)
		recv.mem, err = x.equalOwn(recv.mem, send.mem, "send", send.size)
	}
	if err != nil {
		return err
	}
	n := len(recv.mem)
	if p.bytes = n; n > gatherTree || x.size <= 2 {
		p.way = wayScatterAll
	}
	x.take(p.way, root)
	switch {
	case !x.unplanned(p):
	case p.way == wayScatterAll:
		x.steps.ScatterAll(x.place(), root, n, &schedule.Parts{Buf: schedule.In, Each: n}, p.inPlace)
	default:
		x.steps.ScatterTree(x.place(), root, n)
	}
	return nil
}

// Scatterv is Scatter for parts of different lengths: that of rank i has counts[i] elements and comes from
// send[displs[i]:] (6.6); recv of rank i must have counts[i] elements. counts and displs, in elements, are used at
// root only; nil displs has the parts one behind the other. Errors as for Scatter.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	x, err := start[T](c, kindScatterv)
	if err != nil {
		return err
	}
	return x.finish(take(x, send, recv).scatterv(counts, displs, root))
}

func (x *coll) scatterv(counts, displs []int, root int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	if err := x.root(root); err != nil {
		return err
	}
	x.take(wayScatterv, root)
	var l layout
	own := inPlace(recv.mem)
	err := x.notPlace("receive", recv.mem)
	if x.rank == root {
		if l, err = x.layout("send", send.len, counts, displs, false); err == nil {
			recv.mem, err = x.partOwn(recv.mem, send.mem, l, "receive", recv.size)
		}
	}
	if err != nil {
		return err
	}
	x.fresh(wayScatterv).ScatterAll(x.place(), root, len(recv.mem), l.parts(schedule.In, send.size), own)
	return nil
}
