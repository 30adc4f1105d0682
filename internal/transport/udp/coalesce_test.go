package udp_test

import (
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
)

// TestCompany: a record that is always alone, or whose sender does not poll soon, leaves with its Commit. One that
// has always had company waits for it in time, and comes all the same when there is none.
func TestCompany(t *testing.T) {
	for name, c := range map[string]struct {
		records int
		pause   time.Duration // before the poll
		learns  bool
	}{
		"alone": {1, 0, false}, "two, and then a pause": {2, 100 * time.Microsecond, false}, "two": {2, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := udptest.Job{}
			cs := j.Open(t, 2, conduit.Config{})
			s := &tallySink{}
			total := int64(0)
			round := func(records int) (waits bool) {
				for i := range records {
					if err := sendOne(cs[0], 1, s); err != nil {
						t.Fatal(err)
					}
					if total++; i == 0 {
						waits = cs[0].(*udp.Conduit).Waits()
					}
				}
				for end := time.Now().Add(c.pause); time.Now().Before(end); {
					continue
				}
				for cs[0].Poll(16, s); s.from[0].Load() < total; cs[0].Poll(16, s) {
					cs[1].Poll(16, s)
				}
				return waits
			}
			waited := 0
			for range 3000 {
				if round(c.records) {
					waited++
				}
			}
			if (waited > 0) != c.learns {
				t.Errorf("the first record of a round waited in %d rounds of 3000", waited)
			}
			round(1)
			closeAll(t, cs)
		})
	}
}
