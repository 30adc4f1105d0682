package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func joined(a, b string) string { return a + b }

// TestValueReductions: the values are combined in the order of ranks, for each root.
func TestValueReductions(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		must(t, n, func(c *Comm) error {
			r := c.Rank()
			upTo := func(n int) (s string) {
				for i := range n {
					s += strings.Repeat(string(rune('a'+i)), 1+i)
				}
				return s
			}
			own := strings.Repeat(string(rune('a'+r)), 1+r)
			for root := range n {
				s, err := ReduceValue(c, own, joined, root)
				if err != nil || r == root && s != upTo(n) || r != root && s != "" {
					return fmt.Errorf("ReduceValue: %q, %v", s, err)
				}
			}
			all, e1 := AllreduceValue(c, own, joined)
			scan, e2 := ScanValue(c, own, joined)
			before, e3 := ExscanValue(c, own, joined)
			if err := errors.Join(e1, e2, e3); err != nil || all != upTo(n) || scan != upTo(r+1) || before != upTo(r) {
				return fmt.Errorf("%q, %q, %q, %v", all, scan, before, err)
			}
			return nil
		})
	}
}

// TestValueReductionOfMaps: the function may change its first argument, also where what it has made goes to a rank.
func TestValueReductionOfMaps(t *testing.T) {
	must(t, 4, func(c *Comm) error {
		count := func(a, b map[string]int) map[string]int {
			for k, n := range b {
				a[k] += n
			}
			return a
		}
		own := map[string]int{"all": 1, fmt.Sprint(c.Rank()): 1}
		all, e1 := AllreduceValue(c, own, count)
		scan, e2 := ScanValue(c, own, count)
		if err := errors.Join(e1, e2); err != nil || all["all"] != 4 || len(all) != 5 ||
			scan["all"] != c.Rank()+1 || len(scan) != c.Rank()+2 {
			return fmt.Errorf("%v, %v, %v", all, scan, err)
		}
		return nil
	})
}

// TestValueReductionFails: where a value cannot be encoded, the function is nil or panics, the next call works.
func TestValueReductionFails(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		var bad any = 1
		if c.Rank() == 1 {
			bad = func() {}
		}
		first := func(a, _ any) any { return a }
		for _, x := range []struct {
			name string
			call func(*Comm, any, func(a, b any) any) (any, error)
		}{{"all", AllreduceValue[any]}, {"scan", ScanValue[any]}, {"exscan", ExscanValue[any]}} {
			name, f := x.name, x.call
			_, err := f(c, bad, first)
			if e := wants(ErrType, err); e != nil && (name != "exscan" || c.Rank() != 2) {
				return fmt.Errorf("%s of a function: %w", name, e)
			}
			if e := wants(ErrOp, second(f(c, 1, nil))); e != nil {
				return fmt.Errorf("%s by nil: %w", name, e)
			}
			panicked := caught(func() { _, err = f(c, 1, func(_, _ any) any { panic("no") }) })
			if c.Rank() == 0 && panicked != "no" || c.Rank() == 2 && !errors.Is(err, ErrType) {
				return fmt.Errorf("%s that panics: %v, %v", name, panicked, err)
			}
		}
		all, err := AllreduceValue(c, "a", joined)
		if err != nil || all != "aaa" {
			return fmt.Errorf("afterwards: %q %w", all, err)
		}
		return nil
	})
}

// TestAlltoallValue: also where one rank's list is too short, after which the next call works.
func TestAlltoallValue(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		must(t, n, func(c *Comm) error {
			text := func(from, to int) string { return strings.Repeat(fmt.Sprint(from), 1+1000*to) }
			list := make([]string, n)
			for to := range list {
				list[to] = text(c.Rank(), to)
			}
			got, err := AlltoallValue(c, list)
			if err != nil || len(got) != n {
				return fmt.Errorf("%d values, %w", len(got), err)
			}
			for from, s := range got {
				if s != text(from, c.Rank()) {
					return fmt.Errorf("%d bytes from rank %d", len(s), from)
				}
			}
			if c.Rank() == 0 {
				return wants(ErrCount, second(AlltoallValue(c, list[1:])))
			}
			return wants(ErrType, second(AlltoallValue(c, list)))
		})
	}
}

// TestValuesBetweenGroups: rank 0 is one group, ranks 1 to 4 are the other.
func TestValuesBetweenGroups(t *testing.T) {
	must(t, 5, func(world *Comm) error {
		left := world.Rank() == 0
		half, err := world.Split(map[bool]int{true: 0, false: 1}[left], 0)
		if err != nil {
			return err
		}
		c, err := half.CreateInter(0, world, map[bool]int{true: 1, false: 0}[left], 3)
		if err != nil {
			return err
		}
		own := strings.Repeat(string(rune('a'+world.Rank())), 1+1000*world.Rank())
		theirs := []string{"a"}
		if left {
			theirs = nil
			for r := 1; r < 5; r++ {
				theirs = append(theirs, strings.Repeat(string(rune('a'+r)), 1+1000*r))
			}
		}
		root := 0 // rank 0 of the other group
		if left {
			root = Root
		}
		return errors.Join(exchangesValues(c, own, theirs), valuesFromRoot(c, own, theirs, root, left))
	})
}

// exchangesValues calls what has no root.
func exchangesValues(c *Comm, own string, theirs []string) error {
	all, e1 := AllgatherValue(c, own)
	flat, counts, e2 := AllgathervAlloc(c, []byte(own))
	sum, e3 := AllreduceValue(c, own, joined)
	list := make([]string, len(theirs))
	for i := range list {
		list[i] = fmt.Sprint(i) + own
	}
	got, e4 := AlltoallValue(c, list)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	want := strings.Join(theirs, "")
	if strings.Join(all, "") != want || len(all) != len(theirs) || string(flat) != want || len(counts) != len(theirs) ||
		sum != want {
		return fmt.Errorf("%d values, %d bytes in %v parts, a sum of %d", len(all), len(flat), counts, len(sum))
	}
	for i, s := range got {
		if s != fmt.Sprint(c.Rank())+theirs[i] {
			return fmt.Errorf("%d bytes from rank %d", len(s), i)
		}
	}
	return wants(ErrComm, second(ScanValue(c, own, joined)))
}

// valuesFromRoot calls what has a root, which is rank 0 of the left group.
func valuesFromRoot(c *Comm, own string, theirs []string, root int, left bool) error {
	one, e1 := BcastValue(c, own, root)
	all, e2 := GatherValue(c, own, root)
	sum, e3 := ReduceValue(c, own, joined, root)
	mine, e4 := ScatterValue(c, theirs, root)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	want := strings.Join(theirs, "")
	if left && (one != own || strings.Join(all, "") != want || sum != want || mine != "") {
		return fmt.Errorf("the root has %d bytes, %d values, %d, %q", len(one), len(all), len(sum), mine)
	}
	if !left && (one != "a" || all != nil || sum != "" || mine != own) {
		return fmt.Errorf("rank %d has %d bytes, %v, %q, %d", c.Rank(), len(one), all, sum, len(mine))
	}
	return nil
}
