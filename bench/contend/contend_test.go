package contend

import (
	"errors"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStart: all goroutines run, and the error of one is that of all.
func TestStart(t *testing.T) {
	bad := errors.New("bad")
	var sum atomic.Int64
	took, err := Start(3, func(i int) error {
		if sum.Add(int64(i)); i == 1 {
			return bad
		}
		return nil
	})
	if took <= 0 || !errors.Is(err, bad) || sum.Load() != 3 {
		t.Errorf("%v, %v, sum %d", took, err, sum.Load())
	}
}
