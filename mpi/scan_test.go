package mpi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// before is what compose makes of element i of ranks 0 to n-1.
func before(n, i int) affine {
	f := affine{1, 0}
	for r := range n {
		g := affineOf(r, i)
		f = affine{f.A * g.A, f.B*g.A + g.B}
	}
	return f
}

func affineOf(r, i int) affine { return affine{uint32(2*r + 3 + i), uint32(5*r + 1)} }

// affines are n elements of rank r, and what compose makes of those of count ranks.
func affines(r, count, n int) (in, want []affine) {
	in, want = make([]affine, n), make([]affine, n)
	for i := range n {
		in[i], want[i] = affineOf(r, i), before(count, i)
	}
	return in, want
}

// waited is the end of a start.
func waited(r Request, err error) error {
	if err != nil {
		return err
	}
	return second(r.Wait())
}

// scanForms are the forms of a scan.
var scanForms = map[string][2]func(c *Comm, in, out []affine) error{
	"blocking": {
		func(c *Comm, in, out []affine) error { return Scan(c, in, out, compose) },
		func(c *Comm, in, out []affine) error { return Exscan(c, in, out, compose) },
	},
	"starting": {
		func(c *Comm, in, out []affine) error { return waited(Iscan(c, in, out, compose)) },
		func(c *Comm, in, out []affine) error { return waited(Iexscan(c, in, out, compose)) },
	},
}

// TestScan: with an operation that does not commute, with two buffers and one, of one segment and several.
func TestScan(t *testing.T) {
	for name, forms := range scanForms {
		t.Run(name, func(t *testing.T) {
			eachShape(t, func(c *Comm, _ shape) error {
				for _, n := range []int{0, 1, 50, 2*algorithm.ReduceSegment/8 + 5} {
					if err := errors.Join(scans(c, n, 1, forms[0]), scans(c, n, 0, forms[1])); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// TestScanUDP: the same with datagrams.
func TestScanUDP(t *testing.T) {
	must(t, 5, func(c *Comm) error {
		n := algorithm.ReduceSegment/8 + 5
		return errors.Join(scans(c, n, 1, scanForms["blocking"][0]), scans(c, n, 0, scanForms["starting"][1]))
	}, With("GOLCI_CONDUIT", "udp"))
}

// scans makes a scan of n elements. own is 1 if that of the rank belongs to it.
func scans(c *Comm, n, own int, scan func(c *Comm, in, out []affine) error) error {
	in, want := affines(c.Rank(), c.Rank()+own, n)
	out := make([]affine, n+2)
	place := slices.Clone(in)
	if c.Rank()+own == 0 {
		want = make([]affine, n) // it is left as it is
		if err := scan(c, in, nil); err != nil {
			return err
		}
	} else if err := scan(c, in, out); err != nil {
		return err
	}
	if err := scan(c, InPlace(place), place); err != nil {
		return err
	}
	switch {
	case !slices.Equal(out, append(want, affine{}, affine{})):
		return fmt.Errorf("%d elements, own %d: wrong content", n, own)
	case c.Rank()+own == 0 && !slices.Equal(place, in), c.Rank()+own > 0 && !slices.Equal(place, want[:n]):
		return fmt.Errorf("%d elements in place, own %d: wrong content", n, own)
	}
	return nil
}

// TestScanBits: an element has the same bits in a vector of any length, and those of Scan one rank before in Exscan.
func TestScanBits(t *testing.T) {
	seed := source(t)
	for _, n := range []int{2, 3, 5, 8} {
		must(t, n, func(c *Comm) error {
			length := algorithm.ReduceSegment/8 + 7
			in, long, ex := floats(seed, c.Rank(), length), make([]float64, length), make([]float64, length)
			short := make([]float64, 3)
			err := errors.Join(Scan(c, in, long, Sum), Exscan(c, in, ex, Sum), Scan(c, in[:3], short, Sum))
			if err != nil {
				return err
			}
			all := make([]float64, n*length)
			if err := Allgather(c, long, all); err != nil {
				return err
			}
			if !sameBits(long[:3], short) {
				return fmt.Errorf("%v alone, %v before", short, long[:3])
			}
			if r := c.Rank(); r > 0 && !sameBits(ex, all[(r-1)*length:][:length]) {
				return errors.New("Exscan differs from Scan")
			}
			return nil
		})
	}
}

// floats are numbers of rank r whose sums depend on the order.
func floats(seed uint64, r, n int) []float64 {
	rnd, in := random(seed, r), make([]float64, n)
	for i := range in {
		in[i] = math.Ldexp(rnd.Float64()-0.5, rnd.IntN(60))
	}
	return in
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
