package fult

import "testing"

// TestFloodIsAdmittedInParts: a flood of jobs does not hold up threads. In one turn of the worker 256 jobs start, or a
// quarter of the live threads if that is more.
func TestFloodIsAdmittedInParts(t *testing.T) {
	for _, flood := range []int{200, 300, 2000} {
		s := open(t, Config{Workers: 1, coroutines: true})
		w := s.workers[0]
		join(t, mustGoOn(t, s, 0, func(me *Thread) {
			for range flood {
				if _, err := s.GoOn(0, func(*Thread) {}); err != nil {
					t.Error(err)
					return
				}
			}
			part := max(admitAtOnce, (flood+1)/admitShare)
			for int(w.queue.n.Load()) == flood { // until the worker has had a turn
				me.Yield()
			}
			if left, want := int(w.queue.n.Load()), max(0, flood-part); left != want {
				t.Errorf("of %d jobs %d wait after a turn, want %d", flood, left, want)
			}
		}))
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
