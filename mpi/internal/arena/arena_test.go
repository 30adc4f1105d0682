package arena

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestArena(t *testing.T) {
	grown := 0
	a := Arena{grow: func(n int64) ([]byte, error) {
		grown++
		return make([]byte, n), nil
	}}
	var blocks [][]byte
	for i := range 100 {
		b, err := a.Take(int64(1000 * i))
		if err != nil || len(b) < 1000*i || len(b)%align != 0 {
			t.Fatal(len(b), err)
		}
		for j := range b {
			b[j] = byte(i)
		}
		blocks = append(blocks, b)
	}
	for i, b := range blocks {
		if len(b) > 0 && (b[0] != byte(i) || b[len(b)-1] != byte(i)) {
			t.Fatalf("block %d overlaps another one", i)
		}
	}
	for _, i := range []int{0, 2, 1} {
		for ; i < len(blocks); i += 3 {
			a.Give(blocks[i])
		}
	}
	if len(a.free) != grown {
		t.Errorf("%d free blocks of %d pieces", len(a.free), grown)
	}
	before := grown
	if b, err := a.Take(step); err != nil || len(b) != step || grown != before {
		t.Errorf("%d bytes, %v, %d pieces", len(b), err, grown)
	}
}
