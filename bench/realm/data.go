package realm

import (
	"sync/atomic"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/realm"
)

// Segment is the registered memory of a rank in bytes that the copies between ranks need.
const Segment = 16 << 20

var copied = []int{64, 4 << 10, 64 << 10, 1 << 20}

func us(names ...string) (cs []column) {
	for _, n := range names {
		cs = append(cs, column{n, bench.Micro})
	}
	return cs
}

// data are the measures of copies and reductions.
func data() []measure {
	const c, r = "copies", "reductions"
	rate := func(name string) []column { return []column{{name, MegaRate}} }
	reduced := []int{dense, sparse}
	return []measure{
		{group: c, name: "copy", columns: us("copy"), sizes: copied, prepare: copyLocal},
		{
			group: c, name: "copy-remote", columns: us("copy-remote"), sizes: copied, place: together,
			prepare: copyRemote(realm.System),
		},
		{
			group: c, name: "copy-direct", columns: us("copy-direct"), sizes: copied, place: together,
			prepare: copyRemote(realm.Registered),
		},
		{group: r, name: "fold", columns: rate("fold"), sizes: reduced, prepare: fold},
		{group: r, name: "fold-single", columns: rate("fold-single"), sizes: reduced, prepare: foldSingle},
		{group: r, name: "list", columns: rate("list"), sizes: reduced, prepare: list},
		{
			group: r, name: "fold-remote", columns: rate("fold-remote"), sizes: reduced, place: together,
			prepare: foldRemote,
		},
		{
			group: r, name: "list-remote", columns: rate("list-remote"), sizes: reduced, place: together,
			prepare: listRemote,
		},
	}
}

func (l *lab) array(m realm.MemoryKind, n int64) realm.Instance {
	in, err := realm.NewArray[float64](l.c, l.rt.Memory(m), realm.Range(0, n))
	l.note(err)
	return in
}

// copyLocal copies size bytes from one instance to another of this rank.
func copyLocal(l *lab, size int) round {
	n := int64(size / 8)
	return l.copies(l.array(realm.System, n), l.array(realm.System, n))
}

// copyRemote copies from this rank to the next one.
func copyRemote(m realm.MemoryKind) func(l *lab, size int) round {
	return func(l *lab, size int) round {
		n := int64(size / 8)
		return l.copies(l.arrayAt(1, m, n), l.array(m, n))
	}
}

// copies copies again and again, and waits for each copy.
func (l *lab) copies(dst, src realm.Instance) round {
	n := max(4, l.batch/16)
	return func() []float64 {
		w := start()
		for range n {
			l.wait(realm.Copy(l.c, dst, src, realm.Part{}))
		}
		return []float64{w.lap(n) / 1e3}
	}
}

// making are arguments of a task that makes an instance.
type making struct {
	Kind  realm.MemoryKind
	N     int64
	Reply realm.Processor
	Ready realm.Event // a user event, to trigger when the first rank knows the instance
}

type made struct {
	Instance realm.InstanceID
	Ready    realm.Event
}

// instance is the last one that another rank has made for this one.
var instance atomic.Uint64

var (
	tellMade = realm.Register("bench/made", func(c *realm.Ctx, a made) error {
		instance.Store(uint64(a.Instance))
		return c.Runtime().UserEvent(a.Ready).Trigger(realm.NoEvent)
	})
	makeArray = realm.Register("bench/make", func(c *realm.Ctx, a making) error {
		in, err := realm.NewArray[float64](c, c.Runtime().Memory(a.Kind), realm.Range(0, a.N))
		if err == nil {
			realm.Spawn(c, a.Reply, tellMade, made{in.ID(), a.Ready})
		}
		return err
	})
)

// arrayAt makes an instance of another rank.
func (l *lab) arrayAt(rank int, m realm.MemoryKind, n int64) realm.Instance {
	ready := l.rt.NewUserEvent()
	l.wait(realm.Spawn(l.c, l.on(rank), makeArray, making{m, n, l.on(0), ready.Event()}))
	if l.err == nil {
		l.wait(ready.Event())
	}
	return realm.InstanceID(instance.Load()).On(l.c)
}

// Reductions: all points of an instance once, or some of many at random.
const (
	dense        = 256 << 10
	sparse       = 16 << 10
	sparsePoints = 1 << 20
)

var addition = realm.RegisterOp("bench/add", realm.SumOp[float64]())

// reductions are n values with their points.
type reductions struct {
	space realm.Space
	n     int64 // points
	at    []int64
	v     []float64
}

func newReductions(n int) *reductions {
	points := int64(n)
	if n == sparse {
		points = sparsePoints
	}
	x := &reductions{space: realm.Range(0, points), n: points, at: make([]int64, n), v: make([]float64, n)}
	for i := range x.at {
		x.at[i], x.v[i] = int64(uint64(i)*0x9E3779B97F4A7C15%uint64(points)), 1
	}
	return x
}

// into reduces by make and then applies all to dst.
func (l *lab) into(dst realm.Instance, n int, from realm.ReductionInstance, reduce func() error) round {
	return func() []float64 {
		w := start()
		l.note(reduce())
		l.wait(realm.Reduce(l.c, dst, 0, from))
		return []float64{1e3 / w.lap(n)}
	}
}

// fold reduces n values at once into a fold instance, and applies that.
func fold(l *lab, n int) round {
	x := newReductions(n)
	return l.folds(l.array(realm.System, x.n), x)
}

func foldRemote(l *lab, n int) round {
	x := newReductions(n)
	return l.folds(l.arrayAt(1, realm.System, x.n), x)
}

func (l *lab) folds(dst realm.Instance, x *reductions) round {
	f, err := realm.NewFold(addition, x.space, realm.ExclusiveReductions)
	l.note(err)
	return l.into(dst, len(x.at), f, func() error {
		f.Reset()
		return f.ReduceAll(x.at, x.v)
	})
}

// foldSingle is fold with a call for each value.
func foldSingle(l *lab, n int) round {
	x := newReductions(n)
	f, err := realm.NewFold(addition, x.space, realm.ExclusiveReductions)
	l.note(err)
	return l.into(l.array(realm.System, x.n), n, f, func() error {
		f.Reset()
		for i, at := range x.at {
			if err := f.Reduce(at, x.v[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// list reduces n values at once into a list instance, and replays that.
func list(l *lab, n int) round {
	x := newReductions(n)
	return l.lists(l.array(realm.System, x.n), x)
}

func listRemote(l *lab, n int) round {
	x := newReductions(n)
	return l.lists(l.arrayAt(1, realm.System, x.n), x)
}

func (l *lab) lists(dst realm.Instance, x *reductions) round {
	log, err := realm.NewList(addition, x.space)
	l.note(err)
	return l.into(dst, len(x.at), log, func() error {
		log.Reset()
		return log.ReduceAll(x.at, x.v)
	})
}
