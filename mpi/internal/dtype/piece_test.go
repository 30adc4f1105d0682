package dtype

import (
	"testing"
	"unsafe"
)

// TestPiece: what lies in one piece is found to be so, where it lies; and which types may have addresses as places.
func TestPiece(t *testing.T) {
	var mem [64]byte
	ints := Named(Int)
	made := func(t2 *Type, err error) *Type {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return t2
	}
	for name, c := range map[string]struct {
		t        *Type
		n        int64
		at, size int // size -1: it is no piece
		absolute bool
	}{
		"dense":       {ints, 3, 0, 12, false},
		"holes":       {made(Vector(3, 1, 2, ints)), 1, 0, -1, false},
		"one, padded": {made(Resized(0, 16, ints)), 1, 0, 4, false},
		"two, padded": {made(Resized(0, 16, ints)), 2, 0, -1, false},
		"shifted":     {made(Hindexed([]int64{2}, []int64{8}, ints)), 1, 8, 8, true},
	} {
		var cur Cursor
		c.t.Over(&cur, unsafe.Pointer(&mem), c.n)
		b, ok := cur.Piece()
		if ok != (c.size >= 0) || ok && (len(b) != c.size || &b[0] != &mem[c.at]) {
			t.Errorf("%s: %d bytes, %t", name, len(b), ok)
		}
		if c.t.Absolute() != c.absolute {
			t.Errorf("%s: places may be addresses: %t", name, c.t.Absolute())
		}
	}
}
