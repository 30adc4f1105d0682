package realm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// TestConclude: the rank of the destination knows of the end at once, unless a third rank decides. So does the
// source, once it has the answer.
func TestConclude(t *testing.T) {
	for name, why := range map[string]*event.Poison{"well": nil, "poisoned": {Rank: 1, Text: "test"}} {
		for owner := range 3 {
			t.Run(fmt.Sprintf("%s/owner=%d", name, owner), func(t *testing.T) { concluded(t, owner, why) })
		}
	}
}

// concluded ends a transfer from rank 0 to rank 1, whose finish event belongs to owner.
func concluded(t *testing.T, owner int, why *event.Poison) {
	team(t, 3, rank.Config{}, func(rts []*Runtime) {
		src, dst := rts[0], rts[1]
		e := rts[owner].ev.NewEvent()
		k := src.ev.BeginCascade(nil)
		ended := src.ev.NewEvent()
		ref, _ := src.ev.ExpectAnswer(k, &events.Outgoing{
			Peer: 1, Finish: e, Done: func(k *events.Cascade, _ *event.Poison) {
				k.Trigger(ended, nil)
			},
		})
		k.EndCascade(events.CallBudget)
		k = dst.ev.BeginCascade(nil)
		dst.ev.Conclude(k, 0, ref, e, why)
		k.EndCascade(events.CallBudget)
		if owner != 2 {
			if st, got := dst.ev.LookAtEvent(e); st != event.Triggered || (got == nil) != (why == nil) {
				t.Errorf("the destination finds %v, %v", st, got)
			}
		} else if st, _ := dst.ev.Replicas.LookAtReplica(e); st != event.Pending {
			t.Errorf("the destination does not leave the end to its owner: %v", st)
		}
		must(t, wait(t, src, Event(ended)))
		for r, rt := range rts {
			if err := wait(t, rt, Event(e)); errors.Is(err, ErrPoisoned) != (why != nil) {
				t.Errorf("rank %d: %v", r, err)
			}
		}
		if n := src.ev.Outs.Used(); n != 0 {
			t.Errorf("%d transfers are left", n)
		}
	})
}

// TestMourned: if the rank of the destination dies, the source ends the transfer, once, unless it has been told of the
// end before.
func TestMourned(t *testing.T) {
	why := events.DeathPoison(1, ErrPeer)
	for _, owner := range []int{0, 2} {
		team(t, 3, rank.Config{}, func(rts []*Runtime) {
			src := rts[0]
			e, told := rts[owner].ev.NewEvent(), rts[owner].ev.NewEvent()
			k := src.ev.BeginCascade(nil)
			for _, finish := range []event.ID{e, told} {
				o := &events.Outgoing{Peer: 1, Finish: finish, Done: func(*events.Cascade, *event.Poison) {}}
				_, _ = src.ev.ExpectAnswer(k, o)
			}
			k.EndCascade(events.CallBudget)
			k = rts[owner].ev.BeginCascade(nil)
			k.Trigger(told, nil)
			k.EndCascade(events.CallBudget)
			k = src.ev.BeginCascade(nil)
			src.ev.FlowsGone(k, 1, why)
			k.EndCascade(events.CallBudget)
			var p *PoisonError
			for r, rt := range rts {
				if err := wait(t, rt, Event(e)); !errors.As(err, &p) || p.Rank != 1 {
					t.Errorf("rank %d, owner %d: %v", r, owner, err)
				}
				must(t, wait(t, rt, Event(told)))
			}
		})
	}
}

// TestFetch: bytes that lie in one piece on both sides are got from the memory of the source, without bulk data; others
// are sent.
func TestFetch(t *testing.T) {
	const n = 8000
	team(t, 2, rank.Config{}, func(rts []*Runtime) {
		rt := rts[0]
		to := kitArgs{Hi: n, Order: AOS, Seed: 1}.at(t, rt, 1)
		same := kitArgs{Hi: n, Order: AOS, Seed: 2}.at(t, rt, 0)
		other := kitArgs{Hi: n, Order: SOA, Seed: 3}.at(t, rt, 0)
		must(t, wait(t, rt, Copy(rt, to, same, Part{}))) // the layout of to is known now
		for _, x := range []struct {
			from     Instance
			seed     int64
			messages int64 // of the source
		}{{same, 2, 1}, {other, 3, 2}} {
			before := rt.ev.Peers.PeerOf(1).Sent.Load()
			must(t, wait(t, rt, Copy(rt, to, x.from, Part{})))
			if got := rt.ev.Peers.PeerOf(1).Sent.Load() - before; got != x.messages {
				t.Errorf("seed %d: %d messages, want %d", x.seed, got, x.messages)
			}
			checkValues(t, "copy", values(t, rt, to, NoEvent), func(i int64) int64 { return valueAt(x.seed, i) })
		}
		if in, out := rts[1].ev.Ins.Used(), rt.ev.Outs.Used(); in != 0 || out != 0 {
			t.Errorf("%d and %d flows are left", in, out)
		}
	})
}

// TestFetchPart: a part in one piece, which lies elsewhere in the source, is got up to its last byte, and no more.
func TestFetchPart(t *testing.T) {
	team(t, 2, rank.Config{}, func(rts []*Runtime) {
		rt, part := rts[0], Range(2000, 8000)
		to := kitArgs{Hi: 9000, Seed: 1}.at(t, rt, 1)
		from := kitArgs{Lo: 1000, Hi: 12_000, Seed: 2}.at(t, rt, 0)
		must(t, wait(t, rt, Copy(rt, to, from, Part{Points: &part, Fields: []Pair{{}}})))
		checkValues(t, "copy", values(t, rt, to, NoEvent), func(i int64) int64 {
			if 2000 <= i && i < 8000 {
				return valueAt(2, i)
			}
			return valueAt(1, i)
		})
	})
}

// TestGone: a copy to an instance that the source knows and that has been destroyed meanwhile is poisoned.
func TestGone(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		eachPair(rt, func(dst, src int) {
			for _, n := range []int64{10, 40_000} {
				to, from := kitArgs{Hi: n, Seed: 1}.at(t, rt, dst), kitArgs{Hi: n, Seed: 2}.at(t, rt, src)
				must(t, wait(t, rt, Copy(rt, to, from, Part{})))
				must(t, wait(t, rt, Destroy(rt, to)))
				if err := wait(t, rt, Copy(rt, to, from, Part{})); !errors.Is(err, ErrPoisoned) {
					t.Errorf("%d from %d, %d points: %v", dst, src, n, err)
				}
				if err := wait(t, rt, Fill(rt, from, 0, int64(3), nil)); err != nil {
					t.Errorf("the source is not left alone: %v", err)
				}
			}
		})
	})
}

// TestChunks: reductions of many chunks, by fold and by list, are all applied before the finish event triggers.
func TestChunks(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		d := rand.New(rand.NewPCG(4, 2))
		for _, n := range []int64{1, 32_000, 32_768, 100_000 + d.Int64N(100_000)} {
			to := kitArgs{Hi: n, Seed: 1}.at(t, rt, rt.Size()-1)
			f, err := NewFold(sumInt64, Range(0, n), ExclusiveReductions)
			must(t, err)
			l, err := NewList(sumInt64, Range(0, n))
			must(t, err)
			for i := range n {
				must(t, errors.Join(f.Reduce(i, i), l.Reduce(n-1-i, 1)))
			}
			after := Reduce(rt, to, 0, f)
			after = Reduce(rt, to, 0, l, After(after))
			checkValues(t, "reductions", values(t, rt, to, after), func(i int64) int64 { return valueAt(1, i) + i + 1 })
		}
	})
}
