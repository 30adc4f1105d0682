package realm

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/space"
)

// settled waits until all messages of the ranks have been handled, and what the utility processors had to do by then is
// done.
func settled(rts []*Runtime) {
	for range 2 { // what a utility processor does may send messages
		for !quiet(rts) { // the last message may be for another rank, so nothing wakes this one
			rts[0].engine.Poll()
			runtime.Gosched()
		}
		for _, rt := range rts {
			onUtility(rt, func(*events.Cascade) {})
		}
	}
}

// quiet tells whether no message between the ranks is on its way.
func quiet(rts []*Runtime) bool {
	var sent, received int64
	for _, rt := range rts {
		_, n := rt.ev.Peers.SumMessages()
		received += n
	}
	for _, rt := range rts { // later, so that none has been sent in between if the sums are equal
		n, _ := rt.ev.Peers.SumMessages()
		sent += n
	}
	return sent == received
}

// onUtility has the utility processor of a rank call f, and waits.
func onUtility(rt *Runtime, f func(k *events.Cascade)) {
	over := make(chan struct{})
	rt.utility.pushTask(rt.newInternal(func(c *Ctx) error {
		defer close(over)
		f(&c.cascade)
		c.cascade.RunWaiters(events.CallBudget)
		return nil
	}), nil)
	<-over
}

// foldOf has a reduction of i into each point i up to n.
func foldOf(t *testing.T, n int64) ReductionInstance {
	f, err := NewFold(sumInt64, Range(0, n), ExclusiveReductions)
	must(t, err)
	for i := range n {
		must(t, f.Reduce(i, i))
	}
	return f
}

// lastOp is an operator whose order matters: the last value stays.
var lastOp = RegisterOp("transfer.last", &Op[int64, int64]{Apply: func(_, r int64) int64 { return r }})

// listOf has n reductions by lastOp, in turn into a few points.
func listOf(t *testing.T, n, points int64) ReductionInstance {
	l, err := NewList(lastOp, Range(0, points))
	must(t, err)
	for i := range n {
		must(t, l.Reduce(i%points, i))
	}
	return l
}

// perChunk is more 8-byte values than a chunk has.
const perChunk = chunkBytes / 8

// TestWindow: several chunks of a fold are under way at once, and one of a list. The last one waits for the others, and
// has the rank of the destination trigger the event.
func TestWindow(t *testing.T) {
	for name, x := range map[string]struct {
		from     func(t *testing.T) ReductionInstance
		underWay int  // after the first step
		held     bool // the last chunk has been made
		ended    bool // and sent
	}{
		"one":       {func(t *testing.T) ReductionInstance { return foldOf(t, 100) }, 0, true, true},
		"few":       {func(t *testing.T) ReductionInstance { return foldOf(t, 5*perChunk/2) }, 2, true, false},
		"many":      {func(t *testing.T) ReductionInstance { return foldOf(t, 8*perChunk) }, 4, false, false},
		"short log": {func(t *testing.T) ReductionInstance { return listOf(t, 100, 7) }, 0, true, true},
		"log":       {func(t *testing.T) ReductionInstance { return listOf(t, 3*perChunk, 7) }, 1, false, false},
	} {
		overNets(t, 2, func(t *testing.T, rts []*Runtime) {
			src, dst := rts[0], rts[1]
			to := kitArgs{Hi: 8 * perChunk}.at(t, src, 1)
			r := &reduction{rt: src, finish: src.ev.NewEvent(), dst: to.id, from: x.from(t)}
			e := Event(r.finish)
			onUtility(src, func(k *events.Cascade) { // which is to learn later that a chunk has landed
				r.stepReduction(k)
				if r.underWay != x.underWay || (r.held != nil) != x.held || r.ended != x.ended {
					t.Errorf("%s: %d under way, held %v, ended %v", name, r.underWay, r.held != nil, r.ended)
				}
			})
			must(t, wait(t, src, e))
			if st, _ := dst.ev.LookAtEvent(event.ID(e)); st != event.Triggered {
				t.Errorf("%s: the destination does not know of the end: %v", name, st)
			}
			settled(rts)
			if n := src.ev.Outs.Used(); n != 0 || r.underWay != 0 {
				t.Errorf("%s: %d flows and %d chunks are left", name, n, r.underWay)
			}
		})
	}
}

// TestListOrder: the reductions of a list are applied in their order, also those of many chunks.
func TestListOrder(t *testing.T) {
	const points = 7
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		for _, n := range []int64{20, 4*perChunk + 3} {
			to := kitArgs{Hi: points}.at(t, rts[0], 1)
			e := Reduce(rts[0], to, 0, listOf(t, n, points))
			checkValues(t, "list", values(t, rts[0], to, e), func(i int64) int64 { return n - 1 - (n-1-i)%points })
		}
	})
}

// TestFailedChunks: several chunks that cannot be applied end a reduction once, with one profile.
func TestFailedChunks(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		rt := rts[0]
		c := collector{of: map[Event]OperationProfile{}}
		prof := Profile(rt.NewProfiler(c.take))
		to := kitArgs{Hi: 10}.at(t, rt, 1)
		must(t, wait(t, rt, Destroy(rt, to)))
		e := Reduce(rt, to, 0, foldOf(t, 5*perChunk), prof)
		if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
			t.Errorf("into an instance that is gone: %v", err)
		}
		settled(rts)
		c.await(t, rt, 1)
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.of) != 1 || len(c.twice) != 0 || c.of[e].Outcome != Failed {
			t.Errorf("%v and %v", c.of, c.twice)
		}
	})
}

// TestOneEnd: a transfer that is watched is ended once: nobody triggers an event that the rank of the destination has
// triggered. So there are no more messages than those that are needed.
func TestOneEnd(t *testing.T) {
	for _, n := range []int64{10, 8000} { // a small copy, and one that the receiver fetches
		for owner, want := range map[int][2]int64{
			0: {1, 2}, // a request, and rank 0 has the profile; an answer, and rank 1 fetches
			1: {2, 3}, // a request and a profile; the job, an answer, and likewise
		} {
			team(t, 2, rank.Config{}, func(rts []*Runtime) {
				by := rts[owner]
				c := collector{of: map[Event]OperationProfile{}}
				prof := Profile(by.NewProfiler(c.take))
				to := kitArgs{Hi: n, Order: AOS, Seed: 1}.at(t, rts[0], 1).id.On(by)
				from := kitArgs{Hi: n, Order: AOS, Seed: 2}.at(t, rts[0], 0).id.On(by)
				must(t, wait(t, by, Copy(by, to, from, Part{}))) // the layout is known now
				settled(rts)
				var before, got [2]int64
				for r, rt := range rts {
					before[r], _ = rt.ev.Peers.SumMessages()
				}
				e := Copy(by, to, from, Part{}, prof)
				must(t, wait(t, by, e))
				c.await(t, by, 1)
				settled(rts)
				for r, rt := range rts {
					got[r], _ = rt.ev.Peers.SumMessages()
					got[r] -= before[r]
				}
				if n == 10 {
					got[1]++ // it fetches nothing
				}
				if got != want {
					t.Errorf("%d points, event of rank %d: %v messages, want %v", n, owner, got, want)
				}
			})
		}
	}
}

// TestExpected: the source has heard of the end of a transfer from the destination, which has asked for the event
// before. It does not tell that rank again, whichever message comes first.
func TestExpected(t *testing.T) {
	for _, late := range []bool{false, true} {
		overNets(t, 2, func(t *testing.T, rts []*Runtime) {
			src := rts[0]
			e := src.ev.NewEvent()
			ask := func() {
				rts[1].ev.PostMessage(0, events.HSubscribe, nil, uint64(e))
				settled(rts)
			}
			before := src.ev.Peers.PeerOf(1).Sent.Load()
			if !late {
				ask()
			}
			k := src.ev.BeginCascade(nil)
			k.Concluded(&events.Outgoing{Peer: 1, Finish: e}, nil, true)
			k.EndCascade(events.CallBudget)
			if late {
				ask()
			}
			settled(rts)
			if n := src.ev.Peers.PeerOf(1).Sent.Load() - before; n != 0 {
				t.Errorf("late %v: %d messages tell what is known", late, n)
			}
		})
	}
}

// TestAsked: the destination, which waits for the event, ends a transfer. Its answer says that it has asked, so the
// source tells it nothing.
func TestAsked(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		src, dst := rts[0], rts[1]
		e := src.ev.NewEvent()
		must(t, dst.Subscribe(Event(e)))
		settled(rts)
		before := src.ev.Peers.PeerOf(1).Sent.Load()
		k := src.ev.BeginCascade(nil)
		ref, _ := src.ev.ExpectAnswer(k, &events.Outgoing{
			Peer: 1, Finish: e, Done: func(*events.Cascade, *event.Poison) {},
		})
		k.EndCascade(events.CallBudget)
		k = dst.ev.BeginCascade(nil)
		dst.ev.Conclude(k, 0, ref, e, nil)
		k.EndCascade(events.CallBudget)
		settled(rts)
		if n := src.ev.Peers.PeerOf(1).Sent.Load() - before; n != 0 {
			t.Errorf("%d messages tell what is known", n)
		}
		must(t, wait(t, src, Event(e)))
	})
}

// TestReleased: the memory of the source is out of the peers' reach after a copy that has fetched it.
func TestReleased(t *testing.T) {
	team(t, 2, rank.Config{Settings: nets[0].settings}, func(rts []*Runtime) {
		rt := rts[0]
		place := func() uint32 { // the lower half of a key is the place of the memory among those that are exposed
			key, ok := rt.ev.Endpoint.Expose(1, make([]byte, 8))
			if !ok {
				t.Error("nothing can be exposed")
				return 0
			}
			rt.ev.Endpoint.Release(1, key)
			return uint32(key.ID)
		}
		to, from := kitArgs{Hi: 8000, Order: AOS}.at(t, rt, 1), kitArgs{Hi: 8000, Order: AOS}.at(t, rt, 0)
		first := place()
		for i := range 4 { // the memory is given back when the answer has come, which may be after the end
			by := rts[i%2]
			must(t, wait(t, by, Copy(by, to.id.On(by), from.id.On(by), Part{})))
			settled(rts)
		}
		if again := place(); again != first {
			t.Errorf("memory is still exposed: the next place is %d, and was %d", again, first)
		}
	})
}

// TestFailedFetch: bytes that cannot be read poison the copy, on all ranks, and leave the destination alone.
func TestFailedFetch(t *testing.T) {
	for owner := range 3 {
		team(t, 3, rank.Config{}, func(rts []*Runtime) {
			src, dst := rts[0], rts[1]
			to := kitArgs{Hi: 8000, Order: AOS, Seed: 1}.at(t, src, 1)
			e, ended := rts[owner].ev.NewEvent(), src.ev.NewEvent()
			k := src.ev.BeginCascade(nil)
			ref, _ := src.ev.ExpectAnswer(k, &events.Outgoing{
				Peer: 1, Finish: e, Done: func(k *events.Cascade, why *event.Poison) {
					k.Trigger(ended, why)
				},
			})
			key, _ := src.ev.Endpoint.Expose(1, make([]byte, 8000*16))
			src.ev.Endpoint.Release(1, key)
			src.ev.SendParcel(k, 1, events.ParcelOpen, ref, openParcel(t, dst, to.id, e, key))
			k.EndCascade(events.CallBudget)
			for r, rt := range rts {
				if err := wait(t, rt, Event(e)); !errors.Is(err, ErrPoisoned) {
					t.Errorf("event of rank %d: rank %d: %v", owner, r, err)
				}
			}
			if err := wait(t, src, Event(ended)); !errors.Is(err, ErrPoisoned) {
				t.Errorf("event of rank %d: the answer is %v", owner, err)
			}
			checkValues(t, "copy", values(t, src, to, NoEvent), func(i int64) int64 { return valueAt(1, i) })
		})
	}
}

// TestFetchFromDead: the death of the source may be found by the fetch, before others hear of it. The poison names the
// rank that has died; that of a key that is not good names the rank that has tried.
func TestFetchFromDead(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		for err, want := range map[error]int32{
			&conduit.PeerError{Peer: 1, Err: conduit.ErrPeerDied}: 1, &conduit.PeerError{Peer: 1, Err: conduit.ErrKey}: 0,
		} {
			var got *event.Poison
			f := &events.Fetch{Rank: &rt.ev, Src: 1, Over: func(_ *events.Cascade, why *event.Poison) { got = why }}
			if f.Fail(err, nil); got == nil || got.Rank != want {
				t.Errorf("%v: %+v", err, got)
			}
			rt.ev.Peers.PeerOf(1).Received.Add(-1) // no fetch has begun
		}
	})
}

// openParcel asks the rank of an instance to fetch all of it under a key.
func openParcel(t *testing.T, dst *Runtime, to InstanceID, e event.ID, key conduit.Key) []byte {
	in, err := dst.local(to)
	must(t, err)
	l := in.layout
	p, err := space.NewPlan(l, l, l.Space(), Pair{}, Pair{Dst: 1, Src: 1})
	must(t, err)
	b := binary.LittleEndian.AppendUint64(nil, uint64(to))
	b = p.AppendStream(appendList(binary.LittleEndian.AppendUint64(b, uint64(e)), space.List{}))
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, key.ID), key.Base)
}

// TestOverlap: bytes that are read and written by one copy become bytes of the source, not always those of the same
// point. Nothing else is touched.
func TestOverlap(t *testing.T) {
	const edge = 10
	d := rand.New(rand.NewPCG(8, 1))
	alone(t, 1, func(rt *Runtime) {
		for _, n := range []int64{20, 5000, 400_000} { // at once, in the call, and in steps
			for _, shift := range []int64{-n / 3, -1, 0, 1, 1 + d.Int64N(n-1)} {
				mem := make([]int64, 2*n+2*edge)
				for i := range mem {
					mem[i] = int64(i)
				}
				a, err := NewExternal(rt, mem[edge+max(0, -shift):][:n], Range(0, n), SOA, FieldOf[int64]("x"))
				must(t, err)
				b, err := NewExternal(rt, mem[edge+max(0, shift):][:n], Range(0, n), SOA, FieldOf[int64]("x"))
				must(t, err)
				must(t, wait(t, rt, Copy(rt, b, a, Part{})))
				from, to := edge+max(0, -shift), edge+max(0, shift)
				for i, v := range mem {
					written := int64(i) >= to && int64(i) < to+n
					if !written && v != int64(i) || written && (v < from || v >= from+n) {
						t.Fatalf("%d points, %d on: %d at %d", n, shift, v, i)
					}
				}
			}
		}
	})
}

// TestDestroyed: instances are destroyed while copies run, which the program should not do. The copies may be poisoned,
// and a later one is. The ranks live on, and no bytes are written outside of the memory that the instance has had.
func TestDestroyed(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		eachPair(rt, func(dst, src int) {
			for _, n := range []int64{10, 8000, 40_000} {
				destroyed(t, rt, dst, src, n)
			}
		})
	})
}

func destroyed(t *testing.T, rt *Runtime, dst, src int, n int64) {
	k, order := kindFor(rt, dst), Order(n/10_000%2) // SOA for those that are in one piece
	beside := kitArgs{Kind: k, Hi: 1000, Seed: 5}
	before := beside.at(t, rt, dst)
	to := kitArgs{Kind: k, Hi: n, Order: order, Seed: 1}.at(t, rt, dst)
	behind := beside.at(t, rt, dst)
	from := kitArgs{Hi: n, Seed: 2}.at(t, rt, src)
	var copies []Event
	for range 3 {
		copies = append(copies, Copy(rt, to, from, Part{}))
	}
	gone := []Event{Destroy(rt, from), Destroy(rt, to)}
	for i, e := range append(copies, Copy(rt, to, from, Part{}, After(gone[0]))) {
		if err := wait(t, rt, e); err != nil && !errors.Is(err, ErrPoisoned) || err == nil && i == len(copies) {
			t.Errorf("%d from %d, %d points, copy %d: %v", dst, src, n, i, err)
		}
	}
	for _, e := range gone {
		must(t, wait(t, rt, e))
	}
	for _, in := range []Instance{before, behind} {
		checkValues(t, "beside", values(t, rt, in, NoEvent), func(i int64) int64 { return valueAt(5, i) })
		must(t, wait(t, rt, Destroy(rt, in)))
	}
	if out, in := rt.ev.Outs.Used(), rt.ev.Ins.Used(); out != 0 || in != 0 {
		t.Errorf("%d from %d, %d points: %d and %d flows are left", dst, src, n, out, in)
	}
}
