package ranks

import (
	"errors"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPayloadsAreRecognised(t *testing.T) {
	for n := range 70 {
		for _, i := range []int{0, 64, 1 << 20} {
			for _, whole := range []bool{false, true} {
				buf := make([]byte, n)
				put(buf, i, whole)
				if err := look(buf, i, whole); err != nil {
					t.Errorf("size %d, message %d, whole %v: %v", n, i, whole, err)
				}
			}
		}
	}
}

func TestTheMessageBeforeIsNotTakenForThisOne(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 31, 32, 1000} {
		for _, whole := range []bool{false, true} {
			buf := make([]byte, n)
			put(buf, 64, whole)
			if err := look(buf, 128, whole); !errors.Is(err, ErrPayload) {
				t.Errorf("size %d, whole %v: error %v, want %v", n, whole, err, ErrPayload)
			}
		}
	}
}

func TestDamageIsSeen(t *testing.T) {
	const n = 4096
	for _, at := range []int{0, 2047, n - 1} {
		buf := make([]byte, n)
		put(buf, 64, false)
		buf[at] ^= 0x80
		if err := look(buf, 64, false); !errors.Is(err, ErrPayload) {
			t.Errorf("stamp, byte %d: error %v", at, err)
		}
	}
	for at := range n {
		buf := make([]byte, n)
		put(buf, 3, true)
		buf[at]++
		if err := look(buf, 3, true); !errors.Is(err, ErrPayload) {
			t.Fatalf("fill, byte %d: error %v", at, err)
		}
	}
}
