package comm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/test/fault"
)

// TestNoticesHaveTheirTurn: a notice comes exactly after the messages that its sender has sent before. That holds where
// records overtake each other, where queues are short, and where a throttled sender sends envelopes.
func TestNoticesHaveTheirTurn(t *testing.T) {
	const rounds = 300
	for name, c := range map[string]struct {
		cc    conduit.Config
		cfg   Config
		fault fault.Config
	}{
		"plain":     {},
		"tiny":      {cc: conduit.Config{TinyQueues: true}},
		"throttled": {cfg: Config{Unexpected: 2000}},
		"overtaken": {fault: fault.Config{Seed: 1, Hold: 200, Reorder: true}},
		"all":       {conduit.Config{TinyQueues: true}, Config{Unexpected: 2000}, fault.Config{Seed: 2, Refuse: 100, Hold: 200, Reorder: true}},
	} {
		t.Run(name, func(t *testing.T) {
			cs := joined(t, 2, c.cc)
			for i := range cs {
				cs[i] = fault.New(cs[i], c.fault)
			}
			j := jobOver(t, cs, c.cfg)
			to, came := j[1], 0
			var wrong error
			to.OnNotice(func(src int, args [noticeArgs]uint64, text []byte, _ *fult.Worker) { // by the poller
				want := fmt.Sprint("notice ", came)
				if wrong == nil && (src != 0 || string(text) != want || args != [noticeArgs]uint64{7, to.arrived, 0, uint64(came)}) {
					wrong = fmt.Errorf("%q of rank %d with %d came as %q after %d messages", text, src, args, want, to.arrived)
				}
				came++
			})
			j.run(t, func(s *Server) error {
				if s.rank == 1 {
					for done := false; !done; {
						s.Poll()
						s.e.AsPoller(func() { done = came == rounds })
					}
					for i := range rounds {
						if _, err := s.Recv(1, 0, i, make([]byte, 100), nil); err != nil {
							return err
						}
					}
					return wrong
				}
				var reqs []Req
				for i := range rounds {
					for range i % 3 { // one a round on average, of several kinds, so that some are only announced
						r, err := s.Isend(1, 1, len(reqs), make([]byte, len(reqs)%100), &Options{Form: Nonblocking, Mode: Mode(len(reqs) / 7 % 2)})
						if err != nil {
							return err
						}
						reqs = append(reqs, r)
					}
					s.Notify(1, [noticeArgs]uint64{7, uint64(len(reqs)), 0, uint64(i)}, fmt.Sprint("notice ", i))
				}
				return s.AwaitAll(reqs)
			})
		})
	}
}

// TestNoticeOfSmallRecords: where records have no room for a long text, the notice comes with as much as fits. The pair
// goes on.
func TestNoticeOfSmallRecords(t *testing.T) {
	j := newJob(t, 2, conduit.Config{MaxRecord: 320, TinyQueues: true}, Config{})
	var came []string
	j[1].OnNotice(func(_ int, _ [noticeArgs]uint64, text []byte, _ *fult.Worker) { came = append(came, string(text)) })
	long := strings.Repeat("long ", longestNotice)
	for range 2 {
		j[0].Notify(1, [noticeArgs]uint64{}, long)
	}
	until(t, "both have come", func() bool { return len(came) == 2 }, j...)
	room := j[0].NoticeRoom()
	if room >= longestNotice || came[0] != long[:room] || came[1] != came[0] {
		t.Errorf("%d bytes have come, and there is room for %d", len(came[0]), room)
	}
}
