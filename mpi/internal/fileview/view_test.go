package fileview

import (
	"errors"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// places lists the byte of the file of each byte of the stream, as the type map tells.
func places(disp int64, t *dtype.Type, tiles int64) (all []int64) {
	_, extent := t.Bounds()
	for i := range tiles {
		dtype.Walk(t, 1, func(b dtype.Basic, at, n int64) bool {
			for k := range n * dtype.Named(b).Size() {
				all = append(all, disp+i*extent+at+k)
			}
			return true
		})
	}
	return all
}

func TestRunsFollowTheTypeMap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		base := dtype.Named([]dtype.Basic{dtype.Byte, dtype.Int, dtype.Double}[r.IntN(3)])
		block := 1 + r.Int64N(3)
		ft, err := dtype.Vector(1+r.Int64N(4), block, block+r.Int64N(3), base)
		if err != nil {
			t.Fatal(err)
		}
		_, extent := ft.Bounds()
		if ft, err = dtype.Resized(0, extent+r.Int64N(9), ft); err != nil {
			t.Fatal(err)
		}
		disp := r.Int64N(20)
		v, err := New(disp, base, ft, Native)
		if err != nil {
			t.Fatal(err)
		}
		want := places(disp, ft, 4)
		from := r.Int64N(int64(len(want)))
		n := r.Int64N(int64(len(want)) - from + 1)
		i, end := from, int64(-1)
		v.Runs(from, n, func(p Run) bool {
			if p.Len <= 0 || p.At == end {
				t.Fatalf("run %v behind one that ends at %d", p, end)
			}
			for k := range p.Len {
				if want[i] != p.At+k || v.At(i) != p.At+k {
					t.Fatalf("byte %d is at %d, At says %d, want %d", i, p.At+k, v.At(i), want[i])
				}
				i++
			}
			end = p.At + p.Len
			return true
		})
		if i != from+n {
			t.Fatalf("%d bytes in runs, want %d", i-from, n)
		}
		past := v.Past(want[from])
		if v.At(past) < want[from] || past > 0 && v.At(past-v.Unit()) >= want[from] || past%v.Unit() != 0 {
			t.Fatalf("Past(%d) is %d", want[from], past)
		}
	}
}

func TestBadViews(t *testing.T) {
	one, four := dtype.Named(dtype.Byte), dtype.Named(dtype.Int)
	back, err := dtype.Hindexed([]int64{1, 1}, []int64{4, 0}, four)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		disp            int64
		etype, filetype *dtype.Type
		want            error
	}{{-1, one, one, errs.Arg}, {0, four, one, errs.Arg}, {0, four, back, errs.IO}} {
		if _, err := New(c.disp, c.etype, c.filetype, Native); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		at   []int64
		want bool
	}{{[]int64{0, 4}, false}, {[]int64{0, 3}, true}, {[]int64{0, 0}, true}, {[]int64{2, 9}, false}} {
		ft, err := dtype.Hindexed([]int64{1, 1}, c.at, dtype.Named(dtype.Int))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := New(0, dtype.Named(dtype.Byte), ft, Native); err != nil || v.Overlaps() != c.want {
			t.Errorf("%v: %v", c.at, err)
		}
	}
}

func TestExternal(t *testing.T) {
	long := dtype.Named(dtype.Long)
	ft, err := dtype.Vector(2, 1, 2, long)
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(0, long, ft, External)
	if err != nil {
		t.Fatal(err)
	}
	if n := Size(long, External); v.Unit() != n || v.At(n) != 2*n {
		t.Errorf("etypes of %d bytes, the second one at %d", v.Unit(), v.At(n))
	}
}
