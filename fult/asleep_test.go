package fult

import (
	"slices"
	"testing"
	"time"
)

// TestSleepWatch: a window begins with a look that finds the worker asleep, and counts if most others do.
func TestSleepWatch(t *testing.T) {
	for name, c := range map[string]struct {
		asleep string // by look: x for asleep
		every  time.Duration
		want   int // looks until it is told; 0: never
	}{
		"asleep":           {"xxxxxxxxxxxxxxxxxxxx", sleepWindow / sleepLooks, 11},
		"now and then":     {"x.x.x.x.x.x.x.x.x.x.", sleepWindow / sleepLooks, 0},
		"mostly":           {"xxxxx..xxxx.........", sleepWindow / sleepLooks, 11},
		"less than mostly": {"xxxxx...xxx.........", sleepWindow / sleepLooks, 0},
		"later":            {"......xxxxxxxxxxxxxx", sleepWindow / sleepLooks, 17},
		"the next window":  {"x..........xxxxxxxxxxxxxx", sleepWindow / sleepLooks, 22},
		"frequent looks":   {"xxxxxxxxxxxxxxxxxxxxxxxx", sleepWindow / 20, 21},
		"rare looks":       {"xxxxxxxxxxxxxxxxxxxxxxxx", sleepWindow, 11},
	} {
		var x sleepWatch
		now, got := time.Now(), 0
		for i, r := range c.asleep {
			window := x.noteLook(now, r == 'x')
			if window != 0 && got == 0 {
				got = i + 1
				if want := max(sleepWindow, sleepLooks*c.every); window != want {
					t.Errorf("%s: a window of %v, want %v", name, window, want)
				}
			}
			now = now.Add(c.every)
		}
		if got != c.want {
			t.Errorf("%s: told at look %d, want %d", name, got, c.want)
		}
	}
}

// TestSleepDue: stacks that do not show a sleep are taken less and less often.
func TestSleepDue(t *testing.T) {
	var x sleepWatch
	var taken []int
	for i := range 20 {
		if x.isDue() {
			taken = append(taken, i)
		}
	}
	if want := []int{0, 1, 3, 7, 15}; !slices.Equal(taken, want) {
		t.Errorf("taken after windows %d, want %d", taken, want)
	}
}
