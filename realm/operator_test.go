package realm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golci/golci/comm/rank"
)

// registered is a catalog of these names and layouts, in order of names.
func registered(pairs ...string) *catalog {
	c := &catalog{}
	for k := 0; k < len(pairs); k += 2 {
		c.defs = append(c.defs, &definition{name: pairs[k], layout: pairs[k+1]})
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
		rts[rt.rank] = rt
		if rt.rank != 2 {
			return
		}
		c := *rt.catalog
		c.defs = append([]*definition(nil), c.defs...)
		for k, d := range c.defs {
			if d.name == operatorPrefix+sumInt64.Name {
				other := *d
				other.layout = "int64 by int8"
				c.defs[k] = &other
			}
		}
		c.digest = c.sum()
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
