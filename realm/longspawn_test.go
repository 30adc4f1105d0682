package realm

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var lengthTask = Register("length", func(_ *Ctx, a []int64) error {
	for i, x := range a {
		if x != int64(i)*int64(i) {
			return errors.New("an argument is not what was sent")
		}
	}
	ran.Store(int64(len(a)))
	return nil
})

var bigTask = Register("big", func(_ *Ctx, a [40_000]int32) error {
	if a[39_999] != 7 || a[0] != 5 {
		return errors.New("an argument is not what was sent")
	}
	return nil
})

// TestLongArguments: arguments of any length travel, in several messages where one is too short.
func TestLongArguments(t *testing.T) {
	overNets(t, 2, func(t *testing.T, rts []*Runtime) {
		rt := rts[0]
		for _, n := range []int{0, 1, 1000, 10_000, 300_000} {
			a := make([]int64, n)
			for i := range a {
				a[i] = int64(i) * int64(i)
			}
			if err := wait(t, rt, Spawn(rt, ProcessorOf(1), lengthTask, a)); err != nil || ran.Load() != int64(n) {
				t.Errorf("%d numbers: %v, %d have come", n, err, ran.Load())
			}
		}
		var all []Event
		for range 20 {
			all = append(all, Spawn(rt, ProcessorOf(1), bigTask, [40_000]int32{0: 5, 39_999: 7}))
		}
		if err := wait(t, rt, rt.Merge(all...)); err != nil {
			t.Error(err)
		}
		if e := Spawn(rt, ProcessorOf(1), lengthTask, slices.Repeat([]int64{3}, 20_000)); !strings.Contains(wait(t,
			rt, e).Error(), "not what was sent") {
			t.Error("other arguments are not seen")
		}
	})
}
