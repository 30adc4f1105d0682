package ring

import (
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// leaveTo is called before something is published. The race detector sees neither accesses of mapped memory nor other
// processes. So it knows no order from a record that is sent to its answer, unless it is told.
func (e *Endpoint) leaveTo() {
	if invariants.Race && e.mapped {
		invariants.Leave()
	}
}

// entering is the sink of an endpoint in mapped memory, under the race detector.
type entering struct{ conduit.Sink }

func (s entering) Record(src int, rec []byte) {
	invariants.Enter()
	s.Sink.Record(src, rec)
}

func (s entering) Bulk(src int, id uint64, off int64, chunk []byte) {
	invariants.Enter()
	s.Sink.Bulk(src, id, off, chunk)
}

func (s entering) Gone(peer int, err error) {
	invariants.Enter()
	s.Sink.Gone(peer, err)
}
