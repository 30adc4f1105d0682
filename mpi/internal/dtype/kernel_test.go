package dtype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

// TestKernels moves pieces of all lengths up to some that have no loop of their own, at several strides, both ways.
func TestKernels(t *testing.T) {
	for length := int64(1); length <= 140; length++ {
		for _, gap := range []int64{1, 8, 100} {
			for _, n := range []int64{1, 2, 3, 4, 5, 9} {
				typ, err := Hvector(n, length, length+gap, Named(Byte))
				if err != nil {
					t.Fatal(err)
				}
				moveBothWays(t, fmt.Sprintf("%d pieces of %d, %d apart", n, length, length+gap), typ, 1, func(i int64) int64 {
					return i/length*(length+gap) + i%length
				})
			}
		}
	}
}

// TestKernelsOfLists moves pieces that lie at places of a list.
func TestKernelsOfLists(t *testing.T) {
	offs := []int64{300, 0, 100, 200, 450}
	for length := int64(1); length <= 70; length++ {
		typ, err := HindexedBlock(length, offs, Named(Byte))
		if err != nil {
			t.Fatal(err)
		}
		moveBothWays(t, fmt.Sprintf("%d pieces of %d", len(offs), length), typ, 1, func(i int64) int64 {
			return offs[i/length] + i%length
		})
	}
}

// moveBothWays packs and unpacks count elements. place is where the byte i of the packed data lies.
func moveBothWays(t *testing.T, name string, typ *Type, count int64, place func(i int64) int64) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	lb, extent := typ.TrueBounds()
	_, step := typ.Bounds()
	mem := make([]byte, lb+extent+max(step, 0)*(count-1))
	for i := range mem {
		mem[i] = byte(r.Uint32())
	}
	want := make([]byte, typ.Size()*count)
	for i := range want {
		want[i] = mem[place(int64(i))]
	}
	var c Cursor
	typ.Over(&c, unsafe.Pointer(&mem[0]), count)
	got := make([]byte, len(want))
	if c.Pack(got, 0); !bytes.Equal(got, want) {
		t.Errorf("%s: packed wrongly (seed %d)", name, seed)
	}
	back := bytes.Clone(mem)
	for i := range want {
		back[place(int64(i))] = ^want[i]
		want[i] = ^want[i]
	}
	if c.Unpack(want, 0); !bytes.Equal(mem, back) {
		t.Errorf("%s: unpacked wrongly (seed %d)", name, seed)
	}
}

// TestColumns repeats structures of a few pieces often enough that they are moved by columns, in more than one portion.
func TestColumns(t *testing.T) {
	for _, recipe := range []string{
		"struct 2 1 0 INT 1 8 DOUBLE", "struct 3 1 16 DOUBLE 1 0 INT 1 24 CHAR", "hiblock 3 2 40 0 12 INT",
		"hvector 3 4 20 INT", "resized 0 100 hindexed 3 8 40 3 0 70 10 CHAR",
	} {
		typ, m, err := read(recipe)
		if err != nil {
			t.Fatal(err)
		}
		var within []int64 // places of an element's bytes
		for _, e := range m.entries {
			for k := range e.b.fact().size {
				within = append(within, e.at+k)
			}
		}
		_, extent := typ.Bounds()
		for _, count := range []int64{1, 3, 4, 5, 2000} {
			moveBothWays(t, fmt.Sprintf("%d of %s", count, recipe), typ, count, func(i int64) int64 {
				n := int64(len(within))
				return i/n*extent + within[i%n]
			})
		}
	}
}
