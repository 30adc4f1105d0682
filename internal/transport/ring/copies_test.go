package ring

import "testing"

// TestCopiesAreMovedOnce: the work of a queue of copies grows with their number, whether they are taken while others
// come or after all have come. They keep their order, and the queue holds none that has been taken.
func TestCopiesAreMovedOnce(t *testing.T) {
	const copies = 40_000
	for _, keep := range []int{0, 1, 7, 1000, copies} { // how many wait before each further one has the oldest taken
		var l copyList
		next := 0
		take := func() {
			j, ok := l.popJob()
			if !ok || j.n != next {
				t.Fatalf("%d wait: took copy %d, %v, want %d", keep, j.n, ok, next)
			}
			next++
		}
		for i := range copies {
			l.pushJob(copyJob{n: i, rest: make([]byte, 1)})
			if i >= keep {
				take()
			}
		}
		for next < copies {
			take()
		}
		if _, ok := l.popJob(); ok {
			t.Fatalf("%d wait: took one that has not come", keep)
		}
		if l.moved > 2*copies {
			t.Errorf("%d wait: %d copies were moved %d times", keep, copies, l.moved)
		}
		for _, j := range l.jobs[:cap(l.jobs)] {
			if j.rest != nil {
				t.Fatalf("%d wait: the queue holds memory of a copy that has been made", keep)
			}
		}
	}
}
