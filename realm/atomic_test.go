package realm

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
)

// atomicArgs are reductions of 1 into random points of an instance of [0, Hi).
type atomicArgs struct {
	ID     InstanceID
	Hi     int64
	Seed   uint64
	Direct bool // by a target, if the instance is on the rank of the task
}

const atomicReductions = 3_000

// points are those that are reduced into.
func (a atomicArgs) points() []int64 {
	d := rand.New(rand.NewPCG(a.Seed, 4))
	all := make([]int64, atomicReductions)
	for k := range all {
		all[k] = d.Int64N(a.Hi)
	}
	return all
}

var reduceAtomically = Register("reduce.atomically", func(c *Ctx, a atomicArgs) error {
	s, ones := Range(0, a.Hi), make([]int64, atomicReductions)
	for k := range ones {
		ones[k] = 1
	}
	list, err := NewList(sumInt64, s)
	if err != nil {
		return err
	}
	fold, err := NewFold(sumInt64, s, AtomicReductions)
	if err != nil {
		return err
	}
	from := ReductionInstance(list)
	if err = list.ReduceAll(a.points(), ones); a.Seed%2 == 0 {
		from, err = fold, errors.Join(err, fold.ReduceAll(a.points(), ones))
	}
	in := a.ID.On(c)
	if err != nil || !a.Direct || a.ID.Rank() != c.Runtime().Rank() {
		return errors.Join(err, c.Wait(Reduce(c, in, 0, from, Atomically())))
	}
	to, err := TargetOf(in, "x", sumInt64, s, AtomicReductions)
	if err != nil {
		return err
	}
	return list.Apply(to)
})

// TestAtomically: tasks of all ranks reduce into one instance at once, by operations and by targets. No reduction is
// lost.
func TestAtomically(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		for r := range rt.Size() {
			const hi = 40
			in := kitArgs{Kind: kindFor(rt, r), Hi: hi, Order: AOS, Seed: 3}.at(t, rt, r)
			want := make([]int64, hi)
			var all []Event
			for k := range 4 * rt.Size() {
				a := atomicArgs{in.ID(), hi, uint64(10*r + k), k%3 == 2}
				for _, p := range a.points() {
					want[p]++
				}
				all = append(all, Spawn(rt, makeProcessor(k%rt.Size(), CPU, 0), reduceAtomically, a))
			}
			done := rt.Merge(all...)
			if err := wait(t, rt, done); err != nil {
				failf(t, "%v", err)
			}
			checkValues(t, "reductions", values(t, rt, in, done), func(i int64) int64 { return valueAt(3, i) + want[i] })
		}
	})
}

// TestTargets: tasks of several processors of a rank reduce into the same points.
func TestTargets(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		in, err := NewArray[int64](rt, rt.Memory(System), Range(0, 3))
		if err != nil {
			return err
		}
		const tasks, each = 4, 20_000
		var all []Event
		var together sync.WaitGroup // so that they apply at once
		together.Add(tasks)
		for range tasks {
			all = append(all, SpawnLocal(rt, rt.IO(), func(*Ctx) error {
				list, err := NewList(sumInt64, Range(0, 3))
				for i := range int64(each) {
					err = errors.Join(err, list.Reduce(i%3, 1))
				}
				to, e := TargetOf(in, "", sumInt64, Range(0, 3), AtomicReductions)
				together.Done()
				together.Wait()
				if e == nil {
					e = list.Apply(to)
				}
				return errors.Join(err, e)
			}))
		}
		if err := wait(t, rt, rt.Merge(all...)); err != nil {
			return err
		}
		v, err := ViewOf[int64](in, "")
		if err != nil {
			return err
		}
		for i := range int64(3) {
			if want := int64(tasks * ((each + 2 - i) / 3)); *v.At(i) != want {
				t.Errorf("point %d is %d, want %d", i, *v.At(i), want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

var sumInt16 = RegisterOp("data.sum16", SumOp[int16]())

func TestBadTargets(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		in, err := NewArray[int16](rt, rt.Memory(System), Range(0, 3))
		if err != nil {
			t.Error(err)
			return
		}
		f, err := NewFold(sumInt16, Range(0, 3), ExclusiveReductions)
		if err != nil {
			t.Error(err)
			return
		}
		_ = f.Reduce(1, 1)
		if err := wait(t, rt, Reduce(rt, in, 0, f)); err != nil {
			t.Error(err)
		}
		if err := wait(t, rt, Reduce(rt, in, 0, f, Atomically())); !errors.Is(err, ErrPoisoned) {
			t.Errorf("atomic reductions of 2 bytes: %v", err)
		}
		there, made := CreateInstance(rt, rt.MemoryOf(1, System), Range(0, 3), SOA, []Field{FieldOf[int16]("")})
		if err := wait(t, rt, Reduce(rt, there, 0, f, After(made))); err != nil {
			t.Error(err)
		}
		if err := wait(t, rt, Reduce(rt, there, 0, f, Atomically())); !errors.Is(err, ErrPoisoned) {
			t.Errorf("atomic reductions of 2 bytes on another rank: %v", err)
		}
		far := kitArgs{Hi: 3}.at(t, rt, 1)
		_, e1 := TargetOf(in, "", sumInt16, Range(0, 3), AtomicReductions)
		_, e2 := TargetOf(in, "x", sumInt16, Range(0, 3), ExclusiveReductions)
		_, e3 := TargetOf(in, "", sumInt64, Range(0, 3), ExclusiveReductions)
		_, e4 := TargetOf(in, "", sumInt16, Range(0, 4), ExclusiveReductions)
		_, e5 := TargetOf(far, "x", sumInt64, Range(0, 3), ExclusiveReductions)
		_, e6 := TargetOf(Instance{}, "x", sumInt64, Range(0, 3), ExclusiveReductions)
		for k, err := range []error{e1, e2, e3, e4, e5, e6} {
			if !errors.Is(err, ErrArgument) {
				t.Errorf("target %d: %v", k+1, err)
			}
		}
	})
}
