package credit

import "testing"

func TestLater32(t *testing.T) {
	n := func(returned, granted int) uint32 {
		return Note{Returned: uint32(returned), Granted: uint16(granted)}.Pack32()
	}
	for _, c := range []struct {
		a, b, want uint32
		stale      bool
	}{
		{n(5, 2), n(5, 2), n(5, 2), false},
		{n(5, 2), n(9, 2), n(9, 2), false},
		{n(9, 2), n(5, 2), n(9, 2), true},
		{n(9, 2), n(5, 1), n(9, 2), true},
		{n(9, 1), n(5, 2), n(9, 2), false}, // cannot be of one pair, and loses nothing all the same
		{n(-1, 7), n(3, 7), n(3, 7), false},
		{n(3, 0), n(-1, -1), n(3, 0), true},
		{n(3, -1), n(3, 1), n(3, 1), false},
	} {
		if got, stale := Later32(c.a, c.b); got != c.want || stale != c.stale {
			t.Errorf("Later32(%#x, %#x) = %#x, %t; want %#x, %t", c.a, c.b, got, stale, c.want, c.stale)
		}
	}
}

func TestLeast(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want int
	}{{Config{Mode: Dynamic, Min: 4, PerPeer: 9}, 4}, {Config{Mode: Fixed, PerPeer: 9}, 9}, {Config{Mode: NoFlow}, MaxCost}} {
		if got := c.c.Least(); got != c.want {
			t.Errorf("%v: %d, want %d", c.c.Mode, got, c.want)
		}
	}
}
