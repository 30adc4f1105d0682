package mpi

import "github.com/golci/golci/internal/schedule"

// alltoallAtOnce is up to how many bytes for a rank all parts are sent at once; above, the ranks pair up, round after
// round, so that no receiver is flooded.
const alltoallAtOnce = 4 << 10

// Alltoall sends part j of send to rank j, where it becomes part i of recv, i being the sender (6.8). send and recv
// are size equal parts each, and must not overlap. send may be InPlace: recv then holds what is sent, and what comes
// replaces it; a copy of recv is made. It waits, and may switch threads. Errors: ErrType, ErrCount, ErrTruncate,
// ErrBuffer, and those of Barrier.
func Alltoall[T any](c *Comm, send, recv []T) error {
	return blocking(c, "Alltoall", send, recv, 0, (*coll).alltoall)
}

func (x *coll) alltoall(int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	in, own := send, inPlace(send.mem)
	if own {
		in = recv
	}
	if in.len%x.size != 0 {
		return x.errorf(ErrCount, "%d elements are no whole number for each of %d ranks", in.len, x.size)
	}
	if err := x.apart(send.mem, recv.mem); err != nil {
		return err
	}
	if err := x.lengthFor("receive", recv.len, in.len); err != nil {
		return err
	}
	n, w := len(in.mem)/x.size, wayAlltoallPairs
	if n <= alltoallAtOnce && x.size > 2 {
		w = wayAlltoallAll
	}
	if !x.plan(w, 0, contribution{bytes: n, inPlace: own}) {
		return nil
	}
	from, to, saved := schedule.Parts{Buf: schedule.In, Each: n}, schedule.Parts{Buf: schedule.Out, Each: n}, 0
	if own {
		from.Buf, saved = schedule.Work, len(in.mem)
	}
	if w == wayAlltoallAll {
		x.steps.AlltoallAll(x.place(), &from, &to, saved)
	} else {
		x.steps.AlltoallPairs(x.place(), &from, &to, saved)
	}
	return nil
}

// Alltoallv is Alltoall for parts of different lengths: what goes to rank j is scounts[j] elements from
// send[sdispls[j]:], and what comes from rank i is rcounts[i] elements, into recv[rdispls[i]:] (6.8). nil
// displacements have the parts one behind the other. send may be InPlace: scounts and sdispls are then not used, and
// what goes to rank j is as long as what comes from it. Errors as for Alltoall.
func Alltoallv[T any](c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int) error {
	return blocking(c, "Alltoallv", send, recv, 0, func(x *coll, _ int) error {
		return x.alltoallv(scounts, sdispls, rcounts, rdispls)
	})
}

func (x *coll) alltoallv(scounts, sdispls, rcounts, rdispls []int) error {
	send, recv := &x.buf[schedule.In], &x.buf[schedule.Out]
	lr, err := x.layout("receive", recv.len, rcounts, rdispls, true)
	if err != nil {
		return err
	}
	ls, in, saved := lr, schedule.In, 0
	if inPlace(send.mem) {
		in, saved = schedule.Work, len(recv.mem)
	} else if ls, err = x.layout("send", send.len, scounts, sdispls, false); err != nil {
		return err
	}
	if err := x.apart(send.mem, recv.mem); err != nil {
		return err
	}
	if ls.counts[x.rank] != rcounts[x.rank] {
		return x.errorf(ErrCount, "to itself the rank sends %d elements and receives %d", ls.counts[x.rank], rcounts[x.rank])
	}
	x.take(wayAlltoallv, 0)
	x.fresh(wayAlltoallv).AlltoallPairs(x.place(), ls.parts(in, send.size), lr.parts(schedule.Out, recv.size), saved)
	return nil
}
