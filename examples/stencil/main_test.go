package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/realm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStencil: both forms give the plate of a serial run, on any number of ranks and blocks.
func TestStencil(t *testing.T) {
	for _, c := range []struct{ ranks, n, blocks, steps int }{
		{1, 1, 1, 1}, {1, 60, 1, 50}, {1, 20, 4, 30}, {2, 33, 3, 41}, {3, 30, 2, 70},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			var out strings.Builder
			err := realm.Run(c.ranks, func(rt *realm.Runtime) error {
				return stencil(context.Background(), rt, options{
					n: c.n, blocks: c.blocks, steps: c.steps,
					check: true,
				}, &out)
			})
			if err != nil || !strings.Contains(out.String(), "equal to a serial run") {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

// TestSerial: two steps by hand. Both forms are compared with a serial run of the same loop, so that must be right.
func TestSerial(t *testing.T) {
	got := serial(2, 2)
	for i, want := range map[int]float64{5: 0.3125, 6: 0.3125, 9: 0.0625, 10: 0.0625} {
		if got[i] != want {
			t.Errorf("point %d of a plate of 4 x 4, with its rim, is %v, want %v", i, got[i], want)
		}
	}
}

// TestSame finds a point that differs.
func TestSame(t *testing.T) {
	a, b := serial(5, 3), serial(5, 3)
	if err := same(a, b); err != nil {
		t.Error(err)
	}
	b[3*7+4] += 1e-12
	if err := same(a, b); !errors.Is(err, errDiffers) || !strings.Contains(err.Error(), "point 2,3") {
		t.Errorf("a changed point: %v", err)
	}
}

// TestDivide: blocks cover all points once, and neighbours agree.
func TestDivide(t *testing.T) {
	g, err := divide(17, 12)
	if err != nil || g.rows*g.cols != 12 {
		t.Fatalf("%+v, %v", g, err)
	}
	seen := map[[2]int64]int{}
	for b := range 12 {
		y0, y1, x0, x1 := g.area(b)
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				seen[[2]int64{y, x}]++
			}
		}
		for side := range sides {
			if o := g.beside(b, side); o >= 0 && g.beside(o, opposite(side)) != b {
				t.Errorf("block %d has %d beside it, which does not know", b, o)
			}
		}
	}
	if len(seen) != 17*17 {
		t.Errorf("%d points of %d", len(seen), 17*17)
	}
	if _, err := divide(2, 5); err == nil {
		t.Error("five blocks of four points")
	}
}
