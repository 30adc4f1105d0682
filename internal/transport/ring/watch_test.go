package ring_test

import (
	"fmt"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// TestWatch: while nothing comes, the words hold what was said. A record, bulk data, and a sender that has never sent
// before show in one of them, and no words are given while something waits to be polled.
func TestWatch(t *testing.T) {
	for _, limit := range []int{0, -1} { // rings are scanned, or tell by a bit-vector
		cs, err := local.New(3, conduit.Config{ScanLimit: limit})
		if err != nil {
			t.Fatal(err)
		}
		w, s := cs[0].(conduit.Watcher), &count{}
		record := func(from int) func() {
			return func() {
				_, st := cs[from].Reserve(0, conduit.Request, 64)
				if st != conduit.OK {
					t.Fatal(st)
				}
				cs[from].Commit(0, 64)
			}
		}
		for i, send := range []func(){
			record(1), record(1), record(2), record(1),
			func() { cs[2].BulkSend(0, 7, 0, make([]byte, 100), nil) },
			record(2),
		} {
			what := fmt.Sprintf("limit %d, step %d", limit, i)
			words, ok := w.Watch(nil)
			if !ok || len(words) == 0 {
				t.Fatalf("%s: %d words, %v", what, len(words), ok)
			}
			if n := changed(words); n != 0 {
				t.Errorf("%s: %d of %d words have changed before anything came", what, n, len(words))
			}
			if send(); changed(words) == 0 {
				t.Errorf("%s: what has come shows in none of %d words", what, len(words))
			}
			if _, ok := w.Watch(words[:0]); ok {
				t.Errorf("%s: there are words while something waits", what)
			}
			for cs[0].Poll(16, s) > 0 || cs[0].Pending() {
				continue
			}
		}
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func changed(words []conduit.Word) (n int) {
	for _, x := range words {
		if x.At.Load() != x.Held {
			n++
		}
	}
	return n
}
