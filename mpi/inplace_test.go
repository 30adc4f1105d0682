package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// samePlace compares each collective with InPlace against the same one with two buffers.
func samePlace(c *Comm, s shape, n int) error {
	me, atRoot := c.Rank(), c.Rank() == s.root
	mine, all := fill(me, 0, n), make([]element, n*s.n)
	into := func(at, n int, b []element) []element { // what would be sent lies in its place
		out := slices.Repeat(fill(99, 0, 1), len(b))
		copy(out[at:], b[at:][:n])
		return out
	}
	var errs []error
	check := func(what string, err error, got, want []element) {
		if err == nil && !slices.Equal(got, want) {
			err = errors.New("wrong content")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s of %d elements: %w", what, n, err))
		}
	}
	if err := Allgather(c, mine, all); err != nil {
		return err
	}
	got := into(me*n, n, all)
	check("Allgather", Allgather(c, InPlace(got), got), got, all)
	if got = into(me*n, n, all); atRoot {
		check("Gather", Gather(c, InPlace(got), got, s.root), got, all)
		got = slices.Clone(all)
		check("Scatter", Scatter(c, got, InPlace(got), s.root), got, all)
	} else {
		check("Gather", Gather(c, mine, nil, s.root), nil, nil)
		got = make([]element, n)
		check("Scatter", Scatter(c, nil, got, s.root), got, mine)
	}
	want := make([]element, len(all))
	in := fill(me, 7, len(all))
	if err := Alltoall(c, in, want); err != nil {
		return err
	}
	check("Alltoall", Alltoall(c, InPlace(in), in), in, want)
	return errors.Join(errs...)
}

// TestInPlace: of parts of one length.
func TestInPlace(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths[:5] {
			if err := samePlace(c, s, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestInPlaceParts: of parts of different lengths.
func TestInPlaceParts(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		me := c.Rank()
		mine, all := fill(me, 0, s.counts[me]), make([]element, s.room)
		own := make([]element, s.room)
		copy(own[s.displs[me]:], mine)
		gathered, list := slices.Clone(own), slices.Clone(own)
		err := errors.Join(Allgatherv(c, mine, all, s.counts, s.displs), Allgatherv(c, InPlace(list), list, s.counts, s.displs))
		if err != nil || !slices.Equal(list, all) {
			return fmt.Errorf("allgatherv: %w", err)
		}
		if me != s.root {
			got := make([]element, len(mine))
			err = errors.Join(Gatherv(c, mine, nil, nil, nil, s.root), Scatterv(c, nil, nil, nil, got, s.root))
			if err != nil || !slices.Equal(got, mine) {
				return fmt.Errorf("scatterv: %w", err)
			}
			return nil
		}
		err = errors.Join(Gatherv(c, InPlace(gathered), gathered, s.counts, s.displs, s.root),
			Scatterv(c, list, s.counts, s.displs, InPlace(list), s.root))
		if err != nil || !slices.Equal(gathered, all) || !slices.Equal(list, all) {
			return fmt.Errorf("gatherv: %w", err)
		}
		return nil
	})
}

// TestInPlaceAlltoallv: ranks i and j exchange (i + j) mod 4 elements.
func TestInPlaceAlltoallv(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		counts := make([]int, s.n)
		var in []element
		for r := range s.n {
			counts[r] = (c.Rank() + r) % 4 * 300
			in = append(in, fill(c.Rank(), r, counts[r])...)
		}
		want := make([]element, len(in))
		if err := Alltoallv(c, in, counts, nil, want, counts, nil); err != nil {
			return err
		}
		if err := Alltoallv(c, InPlace(in), nil, nil, in, counts, nil); err != nil || !slices.Equal(in, want) {
			return fmt.Errorf("wrong content, or %w", err)
		}
		return nil
	})
}

// TestInPlaceReduce: short vectors and long ones, commutative operations and others.
func TestInPlaceReduce(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range []int{0, 1, 5000, 40000} {
			for _, op := range []Op[affine]{compose, compose.Commutative()} {
				mine, want := make([]affine, n), make([]affine, n)
				for i := range mine {
					mine[i] = affine{1 + uint32(c.Rank()+i)%3, uint32(c.Rank())}
				}
				all, top := slices.Clone(mine), slices.Clone(mine)
				err := errors.Join(Allreduce(c, mine, want, op), Allreduce(c, InPlace(all), all, op))
				if c.Rank() == s.root {
					err = errors.Join(err, Reduce(c, InPlace(top), top, op, s.root))
				} else {
					err = errors.Join(err, Reduce(c, mine, nil, op, s.root))
					copy(top, want)
				}
				if err != nil || !slices.Equal(all, want) || !slices.Equal(top, want) {
					return fmt.Errorf("%d elements: wrong content, or %w", n, err)
				}
			}
		}
		return nil
	})
}

// TestInPlaceAlloc: there is no buffer yet in which a part could lie.
func TestInPlaceAlloc(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if err := third(AllgathervAlloc(c, InPlace(one()))); !errors.Is(err, ErrBuffer) {
			return fmt.Errorf("got %w, want ErrBuffer", err)
		}
		return nil
	})
	must(t, 2, func(c *Comm) error { return wants(ErrBuffer, third(GathervAlloc(c, InPlace(one()), 0))) })
	must(t, 2, func(c *Comm) error { return wants(ErrBuffer, third(AlltoallvAlloc(c, InPlace(one()), []int{1, 0}))) })
}

// badPlaces are wrong uses on rank 0 of two, which is no root.
var badPlaces = []bad{
	{"Bcast", ErrBuffer, func(c *Comm) error { return Bcast(c, InPlace(one()), 1) }},
	{"Reduce at another rank", ErrBuffer, func(c *Comm) error { return Reduce(c, InPlace(one()), one(), Sum, 1) }},
	{"Reduce into it", ErrBuffer, func(c *Comm) error { return Reduce(c, one(), InPlace(one()), Sum, 0) }},
	{"Allreduce into it", ErrBuffer, func(c *Comm) error { return Allreduce(c, one(), InPlace(one()), Sum) }},
	{"Allreduce of it into it", ErrBuffer, func(c *Comm) error { return Allreduce(c, InPlace(one()), InPlace(one()), Sum) }},
	{"Allreduce of one slice twice", ErrBuffer, func(c *Comm) error { b := one(); return Allreduce(c, b, b, Sum) }},
	{"Reduce of one slice twice", ErrBuffer, func(c *Comm) error { b := one(); return Reduce(c, b, b, Sum, 0) }},
	{"Gather at another rank", ErrBuffer, func(c *Comm) error { return Gather(c, InPlace(one()), nil, 1) }},
	{"Gather of the own part", ErrBuffer, func(c *Comm) error { b := make([]int, 2); return Gather(c, b[:1], b, 0) }},
	{"Gather of an odd length", ErrCount, func(c *Comm) error { return Gather(c, InPlace(one()), one(), 0) }},
	{"Gatherv at another rank", ErrBuffer, func(c *Comm) error { return Gatherv(c, InPlace(one()), nil, nil, nil, 1) }},
	{"Scatter at another rank", ErrBuffer, func(c *Comm) error { return Scatter(c, nil, InPlace(one()), 1) }},
	{"Scatter of it", ErrBuffer, func(c *Comm) error { return Scatter(c, InPlace(one()), one(), 0) }},
	{"Scatterv at another rank", ErrBuffer, func(c *Comm) error { return Scatterv(c, nil, nil, nil, InPlace(one()), 1) }},
	{"Allgather into it", ErrBuffer, func(c *Comm) error { return Allgather(c, one(), InPlace(one())) }},
	{"Alltoall into it", ErrBuffer, func(c *Comm) error { return Alltoall(c, make([]int, 2), InPlace(one())) }},
	{"Scan into it", ErrBuffer, func(c *Comm) error { return Scan(c, one(), InPlace(one()), Sum) }},
	{"Scan of it into it", ErrBuffer, func(c *Comm) error { return Scan(c, InPlace(one()), InPlace(one()), Sum) }},
	{"Exscan of it into it", ErrBuffer, func(c *Comm) error { return Exscan(c, InPlace(one()), InPlace(one()), Sum) }},
	{"ReduceScatterBlock into it", ErrBuffer, func(c *Comm) error {
		return ReduceScatterBlock(c, make([]int, 2), InPlace(one()), Sum)
	}},
	{"ReduceScatterBlock of an odd length", ErrCount, func(c *Comm) error {
		return ReduceScatterBlock(c, InPlace(one()), one(), Sum)
	}},
	{"ReduceScatter of it into it", ErrBuffer, func(c *Comm) error {
		return ReduceScatter(c, InPlace(one()), InPlace(one()), []int{0, 0}, Sum)
	}},
	{"Alltoall of an odd length", ErrCount, func(c *Comm) error { return Alltoall(c, InPlace(one()), one()) }},
}

// TestWrongPlaces: each is an error on the rank that gives InPlace, and ends the collectives of the other one.
func TestWrongPlaces(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		for _, b := range badPlaces {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			if d.Rank() == 1 {
				err = d.Barrier()
			} else if err = b.call(d); errors.Is(err, ErrCollective) {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			if !errors.Is(err, b.want) {
				return fmt.Errorf("%s: got %v, want %v", b.name, err, b.want)
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
		return nil
	})
}
