package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// named are the collectives of values and of one element, and those that make communicators, with their names.
var named = []struct {
	name string
	call func(c *Comm, root int) error
	root bool // it has one
}{
	{"BcastOne", func(c *Comm, root int) error { return second(BcastOne(c, 1, root)) }, true},
	{"ReduceOne", func(c *Comm, root int) error { return second(ReduceOne(c, 1, Sum, root)) }, true},
	{"AllreduceOne", func(c *Comm, _ int) error { return second(AllreduceOne(c, 1, Sum)) }, false},
	{"GatherOne", func(c *Comm, root int) error { return second(GatherOne(c, 1, root)) }, true},
	{"AllgatherOne", func(c *Comm, _ int) error { return second(AllgatherOne(c, 1)) }, false},
	{"BcastValue", func(c *Comm, root int) error { return second(BcastValue(c, "a", root)) }, true},
	{"GatherValue", func(c *Comm, root int) error { return second(GatherValue(c, "a", root)) }, true},
	{"AllgatherValue", func(c *Comm, _ int) error { return second(AllgatherValue(c, "a")) }, false},
	{"ScatterValue", func(c *Comm, root int) error { return second(ScatterValue(c, []string{"a", "b"}, root)) }, true},
	{"AlltoallValue", func(c *Comm, _ int) error { return second(AlltoallValue(c, []string{"a", "b"})) }, false},
	{"ReduceValue", func(c *Comm, root int) error { return second(ReduceValue(c, "a", joined, root)) }, true},
	{"AllreduceValue", func(c *Comm, _ int) error { return second(AllreduceValue(c, "a", joined)) }, false},
	{"ScanValue", func(c *Comm, _ int) error { return second(ScanValue(c, "a", joined)) }, false},
	{"ExscanValue", func(c *Comm, _ int) error { return second(ExscanValue(c, "a", joined)) }, false},
	{"AllgathervAlloc", func(c *Comm, _ int) error { return third(AllgathervAlloc(c, one())) }, false},
	{"GathervAlloc", func(c *Comm, root int) error { return third(GathervAlloc(c, one(), root)) }, true},
	{"AlltoallvAlloc", func(c *Comm, _ int) error { return third(AlltoallvAlloc(c, one(), []int{1, 0})) }, false},
	{"Dup", func(c *Comm, _ int) error { return second(c.Dup()) }, false},
	{"Split", func(c *Comm, _ int) error { return second(c.Split(0, 0)) }, false},
}

// TestErrorsNameTheCall: errors of a collective that rests on others name the function that the program has called.
// They do so on the rank where it went wrong, and on the others.
func TestErrorsNameTheCall(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	for _, f := range named {
		faults := []struct {
			name string
			want error
			call func(c *Comm) error
		}{
			{"bad root", ErrRoot, func(c *Comm) error { return f.call(c, 7) }},
			{"ended context", ErrCancelled, func(c *Comm) error { return f.call(c.WithContext(ended), 0) }},
			{"failure before", ErrCollective, func(c *Comm) error {
				if err := Bcast(c, one(), -1); !errors.Is(err, ErrRoot) {
					return fmt.Errorf("no failure: %w", err)
				}
				return f.call(c, 0)
			}},
		}
		for _, x := range faults {
			if x.want == ErrRoot && !f.root { //nolint:errorlint // an entry of the table
				continue
			}
			t.Run(f.name+"/"+x.name, func(t *testing.T) {
				must(t, 2, func(c *Comm) error {
					return says(x.want, "mpi: "+f.name, x.call(c))
				})
			})
		}
	}
}

// TestKindOfAnotherRank: what other ranks are told names the function, too.
func TestKindOfAnotherRank(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		root := 0
		if c.Rank() == 1 {
			root = 2
		}
		_, err := GatherOne(c, 1, root)
		if c.Rank() == 1 {
			return says(ErrRoot, "mpi: GatherOne:", err)
		}
		var e *CollectiveError
		if !errors.As(err, &e) || e.Kind != "GatherOne" || !strings.HasPrefix(err.Error(), "mpi: GatherOne") {
			return fmt.Errorf("%w", errors.Join(errors.New("no CollectiveError of GatherOne"), err))
		}
		return nil
	})
}
