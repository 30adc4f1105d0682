package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// dealers are the forms of reduce-scatters.
var dealers = map[string]struct {
	block func(c *Comm, in, out []affine) error
	parts func(c *Comm, in, out []affine, counts []int) error
}{
	"blocking": {
		func(c *Comm, in, out []affine) error { return ReduceScatterBlock(c, in, out, compose) },
		func(c *Comm, in, out []affine, counts []int) error { return ReduceScatter(c, in, out, counts, compose) },
	},
	"starting": {
		func(c *Comm, in, out []affine) error { return waited(IreduceScatterBlock(c, in, out, compose)) },
		func(c *Comm, in, out []affine, counts []int) error {
			return waited(IreduceScatter(c, in, out, counts, compose))
		},
	},
}

// TestReduceScatter: with an operation that does not commute, with two buffers and one, short and long.
func TestReduceScatter(t *testing.T) {
	for name := range dealers {
		t.Run(name, func(t *testing.T) {
			eachShape(t, func(c *Comm, s shape) error {
				return errors.Join(deals(c, name, s.counts), deals(c, name, make([]int, s.n)),
					deals(c, name, counts(c, 3)), deals(c, name, counts(c, 9000)))
			})
		})
	}
}

// TestReduceScatterUDP: the same with datagrams.
func TestReduceScatterUDP(t *testing.T) {
	must(t, 5, func(c *Comm) error {
		return errors.Join(deals(c, "starting", []int{7, 0, 3, 900, 1}), deals(c, "blocking", counts(c, 9000)))
	}, With("GOLCI_CONDUIT", "udp"))
}

// deals makes a reduce-scatter of such parts, and if they are equal the other one, too.
func deals(c *Comm, form string, lens []int) error {
	n, at := 0, 0
	for i, k := range lens {
		if n += k; i < c.Rank() {
			at += k
		}
	}
	in, sum := affines(c.Rank(), c.Size(), n)
	want := sum[at:][:lens[c.Rank()]]
	check := func(what string, out, place []affine, errs ...error) error {
		switch {
		case errors.Join(errs...) != nil:
			return fmt.Errorf("%s: %w", what, errors.Join(errs...))
		case !slices.Equal(out[:len(want)], want) || len(out) > len(want) && out[len(want)] != (affine{}):
			return fmt.Errorf("%s of %v: wrong content", what, lens)
		case !slices.Equal(place[:len(want)], want):
			return fmt.Errorf("%s of %v in place: wrong content", what, lens)
		}
		return nil
	}
	out, place := make([]affine, len(want)+1), slices.Clone(in)
	f := dealers[form]
	err := check("ReduceScatter", out, place, f.parts(c, in, out, lens), f.parts(c, InPlace(place), place, lens))
	if err != nil || slices.Min(lens) != slices.Max(lens) {
		return err
	}
	out, place = make([]affine, len(want)), slices.Clone(in)
	return check("ReduceScatterBlock", out, place, f.block(c, in, out), f.block(c, InPlace(place), place))
}

// TestReduceScatterBits: the bits are those of Allreduce, whatever the algorithm of either.
func TestReduceScatterBits(t *testing.T) {
	seed := source(t)
	for _, n := range []int{2, 3, 4, 5, 7, 8} {
		for _, each := range []int{1, 100, algorithm.ReduceLarge/8/n + 9} {
			must(t, n, func(c *Comm) error {
				in := floats(seed, c.Rank(), n*each)
				all, block, parts := make([]float64, n*each), make([]float64, each), make([]float64, each)
				err := errors.Join(Allreduce(c, in, all, Sum), ReduceScatterBlock(c, in, block, Sum),
					ReduceScatter(c, in, parts, counts(c, each), Sum))
				if want := all[c.Rank()*each:][:each]; err != nil || !sameBits(block, want) || !sameBits(parts, want) {
					return fmt.Errorf("%d elements: other bits than Allreduce, or %w", each, err)
				}
				return nil
			})
		}
	}
}

// TestReduceLocal: in is of lower ranks.
func TestReduceLocal(t *testing.T) {
	in, inout := []affine{{2, 3}, {5, 7}}, []affine{{11, 13}, {17, 19}, {1, 1}}
	err := ReduceLocal(in, inout, compose)
	if err != nil || !slices.Equal(inout, []affine{{22, 3*11 + 13}, {85, 7*17 + 19}, {1, 1}}) {
		t.Error(inout, err)
	}
	if !slices.Equal(in, []affine{{2, 3}, {5, 7}}) {
		t.Error(in)
	}
	b := []int{1, 2, 3}
	for name, x := range map[string]struct{ want, err error }{
		"no operation":   {ErrOp, ReduceLocal(one(), one(), nil)},
		"strings":        {ErrType, ReduceLocal([]string{""}, []string{""}, Func(func(a, _ string) string { return a }))},
		"short":          {ErrCount, ReduceLocal(b, one(), Sum)},
		"overlap":        {ErrBuffer, ReduceLocal(b[:2], b[1:], Sum)},
		"InPlace":        {ErrBuffer, ReduceLocal(InPlace(b), b, Sum)},
		"InPlace of out": {ErrBuffer, ReduceLocal(b[:0], InPlace(b), Sum)},
	} {
		if !errors.Is(x.err, x.want) {
			t.Errorf("%s: got %v, want %v", name, x.err, x.want)
		}
	}
}
