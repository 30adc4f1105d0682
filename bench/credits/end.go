package credits

import (
	"context"
	"fmt"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/rank"
)

// Indices of the handlers.
const (
	hTake   = iota + 1 // request of a flood, not answered
	hCheck             // the last of a flood: how many came before, and which end is flooded next
	hAnswer            // to hCheck
)

// over in place of the next end says that there is none.
const over = 1 << 16

// end is one rank with the credits of one mode. It belongs to the goroutine that polls it.
type end struct {
	on      *rank.Rank
	ep      *am.Endpoint
	seen    uint64 // requests of this flood
	next    int    // as the last check said
	told    bool   // there was a check
	answers int
	wrong   error // found by a handler
}

// openEnd brings up a rank of its own on the job, with the credits of a mode.
func openEnd(ctx context.Context, job *rank.Job, name string, mode credit.Mode, most int) (*end, error) {
	cfg := flowConfig(mode, most)
	cfg.Name = name
	on, err := rank.On(ctx, job, cfg)
	if err != nil {
		return nil, err
	}
	e := &end{on: on, ep: on.Endpoint()}
	for index, s := range map[uint8]am.Spec{
		hTake:   {Name: "take", Run: func(*am.Token, []uint64, []byte) { e.seen++ }, MaxReply: am.NoReply},
		hCheck:  {Name: "check", Run: e.check},
		hAnswer: {Name: "answer", Run: func(*am.Token, []uint64, []byte) { e.answers++ }, MaxReply: am.NoReply},
	} {
		if err := e.ep.Register(index, s); err != nil {
			return nil, twin.Leave(ctx, on, err)
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
