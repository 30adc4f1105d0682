package realmtest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/golci/golci/realm"
)

// names are the handles that a rank has made, for the others.
type names struct {
	Run       int64
	From      int
	Instances []realm.InstanceID // its own arrays, in the order of the plan
	Locks     []realm.ReservationID[payload]
	Barriers  []realm.BarrierID[int64]
	Events    []realm.Event
	Start     realm.BarrierID[struct{}] // of rank 0: all ranks know all names, or have seen all outcomes
}

// desk is where tasks find the plan that a rank executes.
type desk struct {
	names chan names      // of all ranks
	ready realm.UserEvent // triggered when job is set
	job   *job
}

type deskKey struct {
	rt  *realm.Runtime
	run int64
}

var (
	desks sync.Map // of desks by deskKey, as several ranks may be in a process, and one is ahead of another

	sum = realm.RegisterReduction("realmtest.sum", func(a, b int64) int64 { return a + b })
	add = realm.RegisterOp("realmtest.add", realm.SumOp[int64]())
)

func deskOf(rt *realm.Runtime, run int64) *desk {
	d, _ := desks.LoadOrStore(deskKey{rt, run}, &desk{
		names: make(chan names, rt.Size()), ready: rt.NewUserEvent(),
	})
	return d.(*desk)
}

// jobOf is the job that the rank of a task executes. Where a rank is to die, ranks begin before all have theirs.
func jobOf(c *realm.Ctx, run int64) *job {
	d := deskOf(c.Runtime(), run)
	if err := c.Wait(d.ready.Event()); err != nil {
		panic(err)
	}
	return d.job
}

type addArgs struct {
	Run, Dst, Src, X int64
}

type longArgs struct {
	Run, Dst       int64
	Points, Values []int64
}

type lockArgs struct {
	Run, Lock, X int64
}

var (
	introduce = realm.Register("realmtest.introduce", func(c *realm.Ctx, n names) error {
		deskOf(c.Runtime(), n.Run).names <- n // has room for all ranks
		return nil
	})
	addition = realm.Register("realmtest.add", func(c *realm.Ctx, a addArgs) error {
		return jobOf(c, a.Run).add(int(a.Dst), int(a.Src), a.X)
	})
	long = realm.Register("realmtest.long", func(c *realm.Ctx, a longArgs) error {
		v := &jobOf(c, a.Run).views[a.Dst]
		if len(a.Points) != len(a.Values) {
			return fmt.Errorf("%d points and %d values", len(a.Points), len(a.Values))
		}
		for k, i := range a.Points {
			*v.At(i) = mixed(*v.At(i), a.Values[k], 0)
		}
		return nil
	})
	fail = realm.Register("realmtest.fail", func(_ *realm.Ctx, i int64) error {
		if i%2 == 0 {
			panic(causeOf(int(i)))
		}
		return errors.New(causeOf(int(i)))
	})
	holdTask = realm.Register("realmtest.hold", func(c *realm.Ctx, a lockArgs) error {
		p := jobOf(c, a.Run).locks[a.Lock].Payload()
		if p == nil || !p.whole() {
			return errPayload
		}
		p.add(a.X)
		return nil
	})
	shareTask = realm.Register("realmtest.share", func(c *realm.Ctx, a lockArgs) error {
		if p := jobOf(c, a.Run).locks[a.Lock].Payload(); p == nil || !p.whole() {
			return errPayload
		}
		return nil
	})
	everywhereTask = realm.Register("realmtest.everywhere", func(c *realm.Ctx, a lockArgs) error {
		r := jobOf(c, a.Run).locks[a.Lock]
		if err := c.Wait(r.Acquire(realm.Exclusive, realm.NoEvent)); err != nil {
			return err
		}
		r.Payload().add(a.X)
		return r.Release(realm.NoEvent)
	})
)

var errPayload = errors.New("a payload is not there, or not whole")

// add is the body of an addition.
func (j *job) add(dst, src int, x int64) error {
	from, to := &j.plan.arrays[src], &j.plan.arrays[dst]
	for i := to.lo; i < to.hi; i++ {
		if !to.has(i) {
			continue
		}
		other := int64(0)
		if from.has(i) {
			other = *j.views[src].At(i)
		}
		*j.views[dst].At(i) = mixed(*j.views[dst].At(i), other, x)
	}
	return nil
}
