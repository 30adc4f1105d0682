package realm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCreate makes instances in memories of all ranks, deferred, fills and copies them, and destroys them.
func TestCreate(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		fields := []Field{FieldOf[int64]("x"), FieldOf[int32]("y")}
		for r := range rt.Size() {
			for _, n := range []int64{0, 5, 20_000} {
				s, gate := testSpace(0, n, n > 5), rt.NewUserEvent()
				m := rt.MemoryOf(r, kindFor(rt, r))
				in, made := CreateInstance(rt, m, s, AOS, fields, After(gate.Event()))
				other, ready := CreateInstance(rt, rt.Memory(System), s, SOA, fields)
				if in.ID().Rank() != r || in.ID() == other.ID() {
					failf(t, "%v and %v", in.ID(), other.ID())
				}
				if done, _ := rt.HasTriggered(made); done {
					t.Error("an instance before its precondition")
				}
				early := wait(t, rt, Fill(rt, in, 0, int64(1), nil))
				if !errors.Is(early, ErrPoisoned) {
					t.Errorf("a fill of an instance that is not there: %v", early)
				}
				filled := Fill(rt, in, 0, int64(7), nil, After(made))
				_ = gate.Trigger(NoEvent)
				back := Copy(rt, other, in, Part{}, After(filled, ready))
				checkValues(t, "fill", values(t, rt, in, filled), func(int64) int64 { return 7 })
				got := values(t, rt, other, back)
				checkValues(t, "copy", got, func(int64) int64 { return 7 })
				if int64(len(got)) != s.Count() {
					failf(t, "%d values of %v", len(got), s)
				}
				gone := Destroy(rt, in, After(back))
				if err := wait(t, rt, rt.Merge(gone, Destroy(rt, other, After(back)))); err != nil {
					t.Error(err)
				}
				if err := wait(t, rt, Fill(rt, in, 0, int64(1), nil)); !errors.Is(err, ErrPoisoned) {
					t.Errorf("a fill of an instance that is gone: %v", err)
				}
			}
		}
	})
}

// TestCreateFails: what cannot be made poisons the result, with the error, the rank and the bytes.
func TestCreateFails(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		x := []Field{FieldOf[int64]("x")}
		for r := range rt.Size() {
			all := map[string]struct {
				s    Space
				m    Memory
				f    []Field
				want error
				text string
			}{
				"large":    {Range(0, 1<<40), rt.MemoryOf(r, System), x, ErrMemory, fmt.Sprintf("%d bytes", int64(8<<40))},
				"no rank":  {Range(0, 5), rt.MemoryOf(9, System), x, ErrArgument, "rank 9"},
				"no GPU":   {Range(0, 5), rt.MemoryOf(r, GPU), x, ErrArgument, fmt.Sprintf("rank %d", r)},
				"nothing":  {Range(0, 5), 0, x, ErrArgument, ""},
				"pointers": {Range(0, 5), rt.MemoryOf(r, System), []Field{FieldOf[*int]("x")}, ErrArgument, "pointers"},
			}
			for name, c := range all {
				_, e := CreateInstance(rt, c.m, c.s, SOA, c.f)
				err := wait(t, rt, e)
				if !errors.Is(err, ErrPoisoned) || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s, rank %d: %v", name, r, err)
				}
			}
		}
	})
}

// TestCreatedNumbers: instances that ranks create get different numbers, also around each limit of their parts.
func TestCreatedNumbers(t *testing.T) {
	seen := map[InstanceID]bool{}
	for _, creator := range []int{0, 1, 1<<16 - 1} {
		for _, owner := range []int{0, 5, 1<<16 - 1} {
			for _, n := range []int64{0, 1<<24 - 1, 1 << 24, creations - 1} {
				d := data{named: n}
				id, err := d.nameFor(owner, creator)
				if err != nil || id.Rank() != owner || seen[id] || !id.valid() {
					t.Errorf("creation %d of rank %d on rank %d: %v, %v", n, creator, owner, id, err)
				}
				if want := fmt.Sprintf("instance %d, %d of rank %d", owner, n, creator); id.String() != want {
					t.Errorf("%v, want %s", id, want)
				}
				seen[id] = true
			}
		}
	}
	if _, err := (&data{named: creations}).nameFor(0, 0); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// TestCreateMalformed: no bytes make a rank panic, or an instance that lies outside of its memory.
func TestCreateMalformed(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		in, err := newInstance(Range(0, 9), AOS, []Field{FieldOf[int64]("x"), FieldOf[[3]int8]("y")})
		if err != nil {
			return err
		}
		good := in.appendForm([]byte{byte(System)})
		d := rand.New(rand.NewPCG(5, 1))
		made := 0
		for k := range 3000 {
			b := slices.Clone(good[:len(good)-d.IntN(2)*d.IntN(len(good))])
			for range d.IntN(3) {
				b[d.IntN(len(b))] ^= 1 << d.IntN(8)
			}
			id, err := rt.data.nameFor(0, 0)
			if err == nil && k%8 == 7 {
				id ^= InstanceID(1) << (40 + d.IntN(24))
			}
			if x, err := rt.create(id, b); err == nil {
				made++
				there, err := rt.local(id)
				if err != nil || there != x || id.Rank() != 0 || int64(len(x.mem)) != x.layout.Size() {
					t.Errorf("%v: %v", id, err)
					continue
				}
				rt.data.destroy(x)
			}
		}
		if made == 0 || made == 3000 {
			t.Errorf("%d of 3000 forms are good", made)
		}
		return nil
	}, Config{Memory: 1 << 20})
	if err != nil {
		t.Error(err)
	}
}
