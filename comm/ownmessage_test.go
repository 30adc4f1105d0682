package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestOwnMessages: a receive of a message of the rank itself is done when its synchronous or long send is, and at once
// if the message is there. No poll lies between. What does not fit is cut.
func TestOwnMessages(t *testing.T) {
	s := newJob(t, 1, conduit.Config{}, Config{})[0]
	for i, n := range []int{0, 1, 4, 8192, 8193, 100_000, 1<<20 + 1} {
		for _, room := range []int{n, n + 5, n / 2} {
			for _, way := range []string{"posted", "probed", "unexpected"} {
				out, in := make([]byte, n), make([]byte, room)
				pattern(out, i)
				var r Req
				var err, e error
				if way == "posted" {
					r, err = s.Irecv(1, 0, i, in, nil)
				}
				send, e := s.Isend(1, 0, i, out, &Options{Form: Nonblocking, Mode: Synchronous})
				if err = errors.Join(err, e); err != nil {
					t.Fatal(err)
				}
				switch way {
				case "probed":
					m, _, err := s.Mprobe(1, 0, i)
					if err == nil {
						r, err = s.Imrecv(m, in, nil)
					}
					if err != nil || !r.Ready() {
						t.Fatalf("%d bytes, room for %d, %s: %v, the receive is done: %v", n, room, way, err, r.Ready())
					}
				case "unexpected":
					for found := false; !found; {
						_, found, _ = s.Iprobe(1, 0, i)
					}
					if r, err = s.Irecv(1, 0, i, in, nil); err != nil || !r.Ready() {
						t.Fatalf("%d bytes, room for %d, %s: %v, the receive is done: %v", n, room, way, err, r.Ready())
					}
				}
				if _, err := s.Wait(send); err != nil || !r.Ready() {
					t.Fatalf("%d bytes, room for %d, %s: %v, the receive is done: %v", n, room, way, err, r.Ready())
				}
				st, err := s.Wait(r)
				if cut := room < n; errors.Is(err, ErrTruncate) != cut || err != nil && !cut {
					t.Fatalf("%d bytes, room for %d, %s: %v", n, room, way, err)
				}
				if st.Bytes != int64(n) && err == nil || st.Source != 0 || st.Tag != i {
					t.Errorf("%d bytes, room for %d, %s: %+v", n, room, way, st)
				}
				want := make([]byte, n)
				pattern(want, i)
				if got := min(n, room); string(in[:got]) != string(want[:got]) {
					t.Errorf("%d bytes, room for %d, %s: damaged", n, room, way)
				}
			}
		}
	}
	if n := s.ids.Used(); n != 0 {
		t.Errorf("%d operations are left", n)
	}
}
