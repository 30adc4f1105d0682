package runs

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMoveRuns moves runs of all lengths, up to some that have no loop of their own, between strides that differ.
func TestMoveRuns(t *testing.T) {
	for length := int64(1); length <= 16*mostWords+9; length++ {
		for _, steps := range [][2]int64{{length, length + 3}, {length + 8, length}, {2 * length, length + 100}} {
			for _, n := range []int64{0, 1, 2, 3, 4, 5, 9} {
				moveAndCheck(t, length, steps[0], steps[1], n)
			}
		}
	}
}

// moveAndCheck compares MoveRuns with copies of each run, forwards and from the last run to the first.
func moveAndCheck(t *testing.T, length, toStep, fromStep, n int64) {
	t.Helper()
	src, dst := make([]byte, 5+10*fromStep), make([]byte, 7+10*toStep)
	for i := range src {
		src[i] = byte(i*7 + 1)
	}
	want := bytes.Clone(dst)
	for i := range n {
		copy(want[7+i*toStep:][:length], src[5+i*fromStep:][:length])
	}
	d, s := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	name := fmt.Sprintf("%d runs of %d, %d from %d apart", n, length, toStep, fromStep)
	if MoveRuns(length, d, 7, toStep, s, 5, fromStep, n); !bytes.Equal(dst, want) {
		t.Errorf("%s: moved wrongly", name)
	}
	clear(dst)
	last := max(n-1, 0)
	if MoveRuns(length, d, 7+last*toStep, -toStep, s, 5+last*fromStep, -fromStep, n); !bytes.Equal(dst, want) {
		t.Errorf("%s, backwards: moved wrongly", name)
	}
}
