package realm

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/space"
)

// Indirection is a list of points, or says which instance has it. It is Realm's CopyIndirection.
type Indirection struct {
	list  space.List
	by    InstanceID
	field int
}

// IndexList is the points of one dimension with these coordinates. list must not change until the result of the
// operation triggers.
func IndexList(list []int64) Indirection { return Indirection{list: space.Line(list)} }

// PointList is IndexList for points of up to three dimensions.
func PointList(list []Point) Indirection {
	at := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*len(Point{}))
	return Indirection{list: space.List{Dim: len(Point{}), At: at}}
}

// IndexField is the points that a field of in has, by number, for each of the points of the operation. It is read when
// the precondition of the operation has triggered. Its type is int64, int32, [2]int64, [3]int64 or Point. The instance
// is on any rank, and must not change until the result triggers.
func IndexField(in Instance, field int) Indirection { return Indirection{by: in.id, field: field} }

// GatherBy fills the k-th of the points of p, in dst, from the k-th point of by, in src. p.Points nil stands for all
// points of dst. Else it is as Copy. A point of by that src lacks poisons the result.
func GatherBy(at Site, dst, src Instance, by Indirection, p Part, opts ...Option) Event {
	return startJob(at, p.job(jobGather, dst, src, by), src.id, opts)
}

// ScatterBy fills the k-th point of by, in dst, from the k-th of the points of p, in src. p.Points nil stands for all
// points of src. Else it is as GatherBy. Which value a point has in the end that by has more than once is not
// specified.
func ScatterBy(at Site, dst, src Instance, by Indirection, p Part, opts ...Option) Event {
	return startJob(at, p.job(jobScatter, dst, src, by), src.id, opts)
}

// fetch reads the list of j, which an instance has. If that is on another rank it is copied here first.
func (j *job) fetch(k *events.Cascade) {
	if j.by.Rank() == j.rt.ev.Self {
		in, err := j.rt.local(j.by)
		if err != nil {
			j.endJob(k, err)
			return
		}
		j.pushList(k, in, j.field, func() {})
		return
	}
	j.rt.withRemote(k, j.by, func(k *events.Cascade, r *remoteInstance, why *event.Poison) {
		if why != nil {
			j.finishJob(k, why)
			return
		}
		if err := j.copyList(k, r.layout); err != nil {
			j.endJob(k, err)
		}
	})
}

// fetching is a list that is copied from another rank to an instance for it alone.
type fetching struct {
	event.Waiter
	j  *job
	in *instance
}

// copyList begins to copy the list from an instance of that layout.
func (j *job) copyList(k *events.Cascade, l *space.Layout) error {
	rt := j.rt
	if j.field >= len(l.Fields()) {
		return fmt.Errorf("%w: %v has no field %d", ErrArgument, j.by, j.field)
	}
	own := l.Fields()[j.field]
	layout, err := space.SOA(j.points, []space.Field{own})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArgument, err)
	}
	f := &fetching{j: j, in: &instance{layout: layout}}
	f.in.mem = alignedBytes(layout.Size())
	f.Op = f
	if err := rt.enclose(f.in); err != nil {
		return err
	}
	c := &job{rt: rt, kind: jobCopy, dst: f.in.id, src: j.by, points: j.points, pairs: []Pair{{Src: j.field}}}
	c.delegate(k, j.by.Rank(), 0)
	if st, why := rt.ev.AwaitEvent(c.finish, &f.Waiter); st != event.Pending {
		f.onFetched(k, why)
	}
	return nil
}

// Fire implements event.Op.
func (f *fetching) Fire(w *event.Waiter, by any) { f.onFetched(by.(*events.Cascade), w.Poison) }

// onFetched goes on with the job when the list is here.
func (f *fetching) onFetched(k *events.Cascade, why *event.Poison) {
	forget := func() { f.j.rt.data.destroy(f.in) }
	if why != nil {
		forget()
		f.j.finishJob(k, why)
		return
	}
	f.j.pushList(k, f.in, 0, forget)
}

// pushList makes the utility processor read the list from a field of in and do the job.
func (j *job) pushList(k *events.Cascade, in *instance, field int, then func()) {
	j.rt.utility.pushTask(j.rt.newInternal(func(c *Ctx) error {
		var err error
		j.list, err = in.readPoints(field, j.points)
		if then(); err != nil {
			j.endJob(&c.cascade, err)
		} else {
			j.workStep(&c.cascade)
		}
		c.cascade.RunWaiters(events.CallBudget)
		return nil
	}), k)
}

// readPoints is the points that a field of in has, for each of s.
func (in *instance) readPoints(field int, s Space) (l space.List, err error) {
	track, err := in.layout.Track(s, field)
	if err != nil {
		return l, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	size := in.layout.Fields()[field].Size
	switch size {
	case 4, 8, 16, 24:
		l.Dim = max(1, int(size/8))
	default:
		return l, fmt.Errorf("%w: a field of %d bytes has no points", ErrArgument, size)
	}
	l.At = make([]int64, 0, track.Count()*int64(l.Dim))
	for n := int64(0); n < track.Count(); {
		off, run := track.Find(n)
		for k := range run {
			b := in.mem[off+k*track.Step():][:size]
			if size == 4 {
				l.At = append(l.At, int64(int32(binary.NativeEndian.Uint32(b))))
				continue
			}
			for ; len(b) > 0; b = b[8:] {
				l.At = append(l.At, int64(binary.NativeEndian.Uint64(b)))
			}
		}
		n += run
	}
	return l, nil
}
