package fult

import "testing"

// TestFloodIsAdmittedInParts: of a flood of jobs so many start in one turn of the worker that threads are not held
// up, and no more: 256 or a quarter of what lives there.
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
