package credits

import (
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/credit"
)

// Indices of the handlers.
const (
	hTake   = iota + 1 // request of a flood, not answered
	hCheck             // the last of a flood: how many came before, and which end is flooded next
	hAnswer            // to hCheck
)

// over in place of the next end says that there is none.
const over = 1 << 16

// end is one rank's end of one conduit. It belongs to the goroutine that polls it.
type end struct {
	wire    conduit.Conduit
	ep      *am.Endpoint
	seen    uint64 // requests of this flood
	next    int    // as the last check said
	told    bool   // there was a check
	answers int
	wrong   error // found by a handler
}

func openEnd(
	job *boot.Job, connect func(*boot.Job, string, conduit.Config) (conduit.Conduit, error), name string, terms credit.Config,
) (*end, error) {
	// The ring is as long as the largest loan, whatever the mode.
	wire, err := connect(job, name, conduit.Config{Loan: terms.Max, MaxRecord: terms.Min * credit.Unit})
	if err != nil {
		return nil, err
	}
	e := &end{wire: wire}
	if e.ep, err = am.New(wire, am.Config{Credits: terms}); err != nil {
		return nil, errors.Join(err, wire.Close())
	}
	for index, s := range map[uint8]am.Spec{
		hTake:   {Name: "take", Run: func(*am.Token, []uint64, []byte) { e.seen++ }, MaxReply: am.NoReply},
		hCheck:  {Name: "check", Run: e.check},
		hAnswer: {Name: "answer", Run: func(*am.Token, []uint64, []byte) { e.answers++ }, MaxReply: am.NoReply},
	} {
		if err := e.ep.Register(index, s); err != nil {
			e.ep.Close()
			return nil, errors.Join(err, wire.Close())
		}
	}
	return e, nil
}

func (e *end) check(tok *am.Token, args []uint64, _ []byte) {
	if args[0] != e.seen {
		e.wrong = fmt.Errorf("%w: %d requests came of %d", ErrLost, e.seen, args[0])
	}
	e.seen, e.next, e.told = 0, int(args[1]), true
	if err := tok.ReplyShort(hAnswer); err != nil {
		e.wrong = err
	}
}

// flood sends n requests, and one that is answered when all have come and tells which end is next.
func (e *end) flood(payload []byte, n, next int) (time.Duration, error) {
	start := time.Now()
	for i := range uint64(n) {
		var err error
		if len(payload) == leastSize {
			err = e.ep.RequestShort(1, hTake, i)
		} else {
			err = e.ep.RequestMedium(1, hTake, payload, i)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := e.ep.RequestShort(1, hCheck, uint64(n), uint64(next)); err != nil {
		return 0, err
	}
	for was := e.answers; e.answers == was; {
		if e.ep.Poll() == 0 {
			if err := e.broken(); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(start), nil
}

// broken is the reason why a wait may never end.
func (e *end) broken() error {
	if e.wrong != nil {
		return e.wrong
	}
	return e.ep.Err()
}
