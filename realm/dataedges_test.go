package realm

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// TestFlowsGone: the death of a rank ends what waits for it, and nothing else.
func TestFlowsGone(t *testing.T) {
	alone(t, 3, func(rt *Runtime) {
		k := rt.ev.BeginCascade(nil)
		defer k.EndCascade(events.CallBudget)
		var dead [3]*event.Poison
		for peer := 1; peer < 3; peer++ {
			o := &events.Outgoing{Peer: peer, Done: func(_ *events.Cascade, why *event.Poison) { dead[peer] = why }}
			if _, ok := rt.ev.ExpectAnswer(k, o); !ok {
				t.Errorf("rank %d is dead", peer)
			}
			rt.ev.Ins.Add(&events.Incoming{Src: peer, Left: 10})
		}
		rt.ev.FlowsGone(k, 1, events.DeathPoison(1, ErrPeer))
		if dead[1] == nil || dead[2] != nil || rt.ev.Outs.Used() != 1 || rt.ev.Ins.Used() != 1 {
			t.Errorf("%v; %d and %d flows are left", dead, rt.ev.Outs.Used(), rt.ev.Ins.Used())
		}
	})
}

// TestDirect: a large copy into registered memory of a rank in the same process is written there by its source.
func TestDirect(t *testing.T) {
	err := RunWith(2, rank.Config{}, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		guarded(t, rt, func(t *testing.T, rt *Runtime) {
			to := kitArgs{Kind: Registered, Hi: 20_000, Order: AOS, Seed: 1}.at(t, rt, 1)
			from := kitArgs{Hi: 20_000, Seed: 2}.at(t, rt, 0)
			e := Copy(rt, to, from, Part{})
			checkValues(t, "copy", values(t, rt, to, e), func(i int64) int64 { return valueAt(2, i) })
			if mem, ok := rt.data.mapped.Load(1); !ok || len(mem.([]byte)) != 1<<20 {
				t.Errorf("rank 1 is not reached: %v", ok)
			}
			if got := rt.reach(1, 1<<20-5, 6); got != nil {
				t.Errorf("%d bytes beyond the segment", len(got))
			}
		})
		return nil
	}, Config{CPUs: 1, Segment: 1 << 20})
	if err != nil {
		t.Error(err)
	}
}

// TestMalformedParcels: no bytes make a rank panic. What is no parcel is refused, and what makes no sense is answered.
func TestMalformedParcels(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		in, err := NewArray[int64](rt, rt.Memory(System), Range(0, 50))
		if err != nil {
			t.Error(err)
			return
		}
		half := Range(3, 20)
		j := Part{&half, []Pair{{}}}.job(jobGather, in, in, IndexList([]int64{1, 2, 300}))
		j.rt, j.finish = rt, rt.ev.NewEvent()
		good := j.encode(0)
		d := rand.New(rand.NewPCG(3, 1))
		for range 3000 {
			b := slices.Clone(good[:d.IntN(len(good)+1)])
			for range d.IntN(4) {
				if len(b) > 30 {
					i := d.IntN(len(b))
					if i >= 10 && i < 18 { // an event to wait for, which would be left over
						continue
					}
					b[i] ^= 1 << d.IntN(8)
				}
			}
			k := rt.ev.BeginCascade(nil)
			r := wire{b: b}
			_, _, _ = r.u64(), r.readList(), r.space()
			_ = rt.applyChunk(b)
			_, _, _ = rt.landing(b)
			if len(b) < len(good) {
				if err := rt.onJob(k, 0, 0, b); err == nil {
					t.Errorf("a job of %d of %d bytes", len(b), len(good))
				}
			}
			k.EndCascade(events.CallBudget)
		}
	})
}

// TestDeathInTransfer: rank 1 dies while it is the source of one copy, the destination of another and of reductions,
// and is asked for an instance. All results are poisoned.
func TestDeathInTransfer(t *testing.T) {
	const n = 1 << 20
	die, dead, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	end := errors.New("the end") // what has lost its conduit cannot finalize
	_ = Run(2, func(rt *Runtime) error {
		if rt.Rank() == 1 {
			<-die
			err := rt.ev.Endpoint.Conduit().Close()
			close(dead)
			<-over
			return errors.Join(end, err)
		}
		defer close(over)
		guarded(t, rt, func(t *testing.T, rt *Runtime) {
			there := kitArgs{Hi: n, Seed: 1}.at(t, rt, 1)
			here := kitArgs{Hi: n, Seed: 2}.at(t, rt, 0)
			l, _ := NewList(sumInt64, Range(0, n))
			for i := range int64(n) {
				_ = l.Reduce(i, 1)
			}
			never := rt.NewUserEvent()
			close(die)
			all := map[string]Event{
				"to":      Copy(rt, there, here, Part{}),
				"from":    Copy(rt, here, there, Part{}, After(never.Event())),
				"reduce":  Reduce(rt, there, 0, l),
				"unknown": Copy(rt, Instance{rt, there.id + 1}, here, Part{}),
				"fill":    Fill(rt, there, 0, int64(3), nil, After(never.Event())),
			}
			<-dead
			for what, e := range all {
				if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) && what != "to" {
					t.Errorf("%s: %v", what, err)
				}
			}
			for what, e := range map[string]Event{
				"late copy": Copy(rt, there, here, Part{}), "late fill": Fill(rt, there, 0, int64(3), nil),
				"late reduction": Reduce(rt, there, 0, l),
			} {
				if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if rt.ev.Outs.Used() != 0 || rt.ev.Ins.Used() != 0 {
				t.Errorf("%d and %d flows are left", rt.ev.Outs.Used(), rt.ev.Ins.Used())
			}
		})
		return end
	})
}
