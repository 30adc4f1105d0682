package realm

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/rank"
)

// registered is a catalog of these names and layouts, in order of names.
func registered(pairs ...string) *catalog {
	c := &catalog{}
	for k := 0; k < len(pairs); k += 2 {
		c.defs = append(c.defs, &registration{name: pairs[k], layout: pairs[k+1]})
	}
	return c
}

// TestDifference: what two ranks have registered is compared by name and layout; the first that differs is named, with
// the rank that has it.
func TestDifference(t *testing.T) {
	all := []string{"operator a", "int64 by int32", "operator b", "int32 by int32", "run", "{}0"}
	const room = 1000
	for name, c := range map[string]struct {
		here, there []string
		room        int
		want        string
	}{
		"missing here":   {all[:4], all, room, `rank 7 has registered "run", rank 3 has not`},
		"missing there":  {all, all[2:], room, `rank 3 has registered "operator a", rank 7 has not`},
		"missing at end": {all, all[:4], room, `rank 3 has registered "run", rank 7 has not`},
		"one in between": {all[:2], all[:4], room, `rank 7 has registered "operator b", rank 3 has not`},
		"first of all":   {all[2:], all, room, `rank 7 has registered "operator a", rank 3 has not`},
		"types": {
			all,
			[]string{all[0], all[1], all[2], all[1]},
			room,
			`"operator b" has another layout on rank 7 than on rank 3, where it is int32 by int32`,
		},
		"nothing there":    {all, nil, room, `rank 3 has registered "operator a", rank 7 has not`},
		"more than it can": {all, all, 60, "more than it can tell"},
	} {
		got := registered(c.here...).difference(3, 7, registered(c.there...).summary(c.room))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	summary := registered(all...).summary(room)
	for n := range len(summary) { // no bytes make it panic
		_ = registered(all...).difference(0, 1, summary[:n])
	}
}

// TestOperatorsDiffer: a rank whose operator has other types ends the start, with the name of the operator.
func TestOperatorsDiffer(t *testing.T) {
	rts := make([]*Runtime, 3)
	cfg := rank.Config{}
	withRuntime(&cfg, Config{CPUs: 1}, func(rt *Runtime) {
		rts[rt.ev.Self] = rt
		if rt.ev.Self != 2 {
			return
		}
		c := *rt.catalog
		c.defs = append([]*registration(nil), c.defs...)
		for k, d := range c.defs {
			if d.name == operatorPrefix+sumInt64.Name {
				other := *d
				other.layout = "int64 by int8"
				c.defs[k] = &other
			}
		}
		c.digest = c.sumOf()
		rt.catalog = &c
	})
	job, err := rank.Local(len(rts), cfg)
	if err != nil {
		t.Fatal(err)
	}
	err = job.Run(func(r *rank.Rank) error { return rts[r.Rank()].Begin() })
	want := fmt.Sprintf("%q has another layout on rank 2 than on rank 0", operatorPrefix+sumInt64.Name)
	if !errors.Is(err, ErrRegistered) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestForeignOperator: an operator that has the name of a registered one is not taken for it.
func TestForeignOperator(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		in, err := NewArray[int64](rt, rt.Memory(System), Range(0, 4))
		if err != nil {
			t.Error(err)
			return
		}
		other := *ProdOp[int64]()
		other.Name = sumInt64.Name
		f, err := NewFold(&other, Range(0, 4), ExclusiveReductions)
		if err != nil {
			t.Error(err)
			return
		}
		err = wait(t, rt, Reduce(rt, in, 0, f))
		if !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), "RegisterOp") {
			t.Errorf("%v", err)
		}
	})
	for name, f := range map[string]func(){
		"twice":    func() { RegisterOp(sumInt64.Name, SumOp[int64]()) },
		"pointers": func() { RegisterOp("pointers", &Op[*int, int]{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// Types of one name with other fields, which only a look inside tells apart.
func oneArgs() reflect.Type {
	type args struct {
		Text string
		Next *args
	}
	return reflect.TypeFor[args]()
}

func otherArgs() reflect.Type {
	type args struct {
		Text []byte
		Next *args
	}
	return reflect.TypeFor[args]()
}

func hiddenArgs() reflect.Type {
	type args struct {
		Text  string
		Next  *args
		cache map[string]int
		Done  func()
	}
	_ = args{}.cache
	return reflect.TypeFor[args]()
}

// TestShapes: arguments that are encoded are the same on two ranks if their fields are, also of types that have
// themselves as a part, or one part often. What the encoding leaves out does not count.
func TestShapes(t *testing.T) {
	one, other, hidden := layoutOf(oneArgs()), layoutOf(otherArgs()), layoutOf(hiddenArgs())
	if one == other || one != hidden {
		t.Errorf("%s; with another field %s; with one that is not encoded %s", one, other, hidden)
	}
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[map[string][]int8](), "map[string][]int8 of string string to []int8 of int8 int8"},
		{reflect.TypeFor[[2]*weekday](), "[2]*realm.weekday of *realm.weekday of realm.weekday string"},
		{reflect.TypeFor[*time.Time](), "*time.Time of time.Time"},
		{reflect.TypeFor[[]big.Int](), "[]big.Int of big.Int"},
		{reflect.TypeFor[[]any](), "[]interface {} of interface {} interface"},
		{
			reflect.TypeFor[family](),
			"realm.family { A:realm.left { Of:*realm.right of realm.right { Of:[]realm.left of #1 } } B:#3 }",
		},
	} {
		if got := layoutOf(c.typ); got != "encoded "+c.want {
			t.Errorf("%v: %q, not %q", c.typ, got, c.want)
		}
	}
}

type (
	weekday string
	left    struct{ Of *right }
	right   struct{ Of []left }
	family  struct {
		A left
		B right
	}
)

// TestBuiltinOps: what each built-in operator makes of two values, and that its identity changes nothing.
func TestBuiltinOps(t *testing.T) {
	const a, b = 0b1100, 0b1010
	for _, c := range []struct {
		op   *Op[int64, int64]
		want int64
	}{
		{SumOp[int64](), a + b},
		{ProdOp[int64](), a * b},
		{MinOp[int64](), b},
		{MaxOp[int64](), a},
		{AndOp[int64](), 0b1000},
		{OrOp[int64](), 0b1110},
		{XorOp[int64](), 0b0110},
	} {
		if got := c.op.Apply(a, b); got != c.want {
			t.Errorf("%s applied: %d, want %d", c.op.Name, got, c.want)
		}
		if got := c.op.Fold(b, a); got != c.want {
			t.Errorf("%s folded: %d, want %d", c.op.Name, got, c.want)
		}
		for _, x := range []int64{a, -a} {
			if got := c.op.Apply(x, *c.op.Identity); got != x {
				t.Errorf("%s of %d and its identity: %d", c.op.Name, x, got)
			}
		}
	}
}

// TestPoints: a space of rows has their points, once each.
func TestPoints(t *testing.T) {
	s := Points(2, Row{Lo: Point{0, 3}, N: 2}, Row{Lo: Point{1, 4}, N: 3}, Row{Lo: Point{0, 4}, N: 2})
	var got []Point
	for p := range s.All() {
		got = append(got, p)
	}
	want := []Point{{0, 3}, {0, 4}, {0, 5}, {1, 4}, {1, 5}, {1, 6}}
	if !slices.Equal(got, want) || s.Count() != int64(len(want)) || s.Has(Point{1, 3}) {
		t.Errorf("%d points %v, want %v", s.Count(), got, want)
	}
}
