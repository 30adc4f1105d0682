package twin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/bench"
)

// leastTrips is the iterations of the calibrating pass of active messages, and the fewest of the timed one.
const leastTrips = 10000

// Indices of the handlers.
const (
	hEcho   = iota + 1 // request, answered in kind with its argument
	hAnswer            // reply to hEcho and hCheck
	hTake              // request of a flood, not answered
	hCheck             // the last of a flood: how many hTake came before, and which end is flooded next
)

// checkEvery says which share of the payloads is compared.
const checkEvery = 64

// end is an endpoint of one of the two ranks. It belongs to the goroutine that called Run, which also polls, so that
// handlers run on it.
type end struct {
	ep      *am.Endpoint
	answers uint64 // replies that came to rank 0
	seen    uint64 // requests of this flood that came to rank 1
	next    int    // as the last hCheck said
	told    bool   // there was an hCheck
	wrong   error  // the first difference, found by a handler
}

// newEnd registers the handlers. most is the largest payload, and take the handler of a flood.
func newEnd(ep *am.Endpoint, most int, take func(e *end, number uint64, payload []byte)) (*end, error) {
	e := &end{ep: ep}
	for index, s := range map[uint8]am.Spec{
		hEcho:   {Name: "echo", Run: e.echo, MaxReply: most},
		hAnswer: {Name: "answer", Run: e.answer, MaxReply: am.NoReply},
		hTake: {Name: "take", MaxReply: am.NoReply, Run: func(_ *am.Token, args []uint64, payload []byte) {
			take(e, args[0], payload)
		}},
		hCheck: {Name: "check", Run: e.check},
	} {
		if err := ep.Register(index, s); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *end) echo(tok *am.Token, args []uint64, payload []byte) {
	if len(payload) == 0 {
		e.note(tok.ReplyShort(hAnswer, args[0]))
	} else {
		e.note(tok.ReplyMedium(hAnswer, payload, args[0]))
	}
}

func (e *end) answer(_ *am.Token, args []uint64, payload []byte) {
	e.due("answer", &e.answers, args[0], payload)
}

// take checks a request of a flood.
func (e *end) take(number uint64, payload []byte) { e.due("request", &e.seen, number, payload) }

// due checks that a message with its payload is the one that is due.
func (e *end) due(kind string, due *uint64, got uint64, payload []byte) {
	if got != *due {
		e.note(fmt.Errorf("%w: %s %d where %d was due", ErrData, kind, got, *due))
	}
	if got%checkEvery == 0 && !isPattern(payload) {
		e.note(fmt.Errorf("%w: %s %d has %x", ErrData, kind, got, payload))
	}
	*due++
}

func (e *end) check(tok *am.Token, args []uint64, _ []byte) {
	if args[0] != e.seen {
		e.note(fmt.Errorf("%w: %d requests came of %d", ErrData, e.seen, args[0]))
	}
	e.seen, e.next, e.told = 0, int(args[1]), true
	e.note(tok.ReplyShort(hAnswer, args[2]))
}

func (e *end) note(err error) {
	if err != nil && e.wrong == nil {
		e.wrong = err
	}
}

// broken is the reason why a wait may never end.
func (e *end) broken() error {
	if e.wrong != nil {
		return e.wrong
	}
	return e.ep.Err()
}

// pattern is a payload of so many bytes.
func pattern(size int) []byte {
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(i)
	}
	return p
}

func isPattern(p []byte) bool {
	for i, b := range p {
		if b != byte(i) {
			return false
		}
	}
	return true
}

// pingPong makes n round trips.
func (e *end) pingPong(payload []byte, n int) error {
	for range n {
		i := e.answers
		if err := e.request(hEcho, payload, i); err != nil {
			return err
		}
		if err := e.await(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// await polls until so many answers have come.
func (e *end) await(answers uint64) error {
	for e.answers < answers {
		if e.ep.Poll() == 0 {
			if err := e.broken(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flood sends n requests that are not answered, and one that is when all have come. That tells which end is next.
func (e *end) flood(payload []byte, n, next int) error {
	for i := range uint64(n) {
		if err := e.request(hTake, payload, i); err != nil {
			return err
		}
	}
	i := e.answers
	if err := e.ep.RequestShort(1, hCheck, uint64(n), uint64(next), i); err != nil {
		return err
	}
	return e.await(i + 1)
}

func (e *end) request(h uint8, payload []byte, i uint64) error {
	if len(payload) == 0 {
		return e.ep.RequestShort(1, h, i)
	}
	return e.ep.RequestMedium(1, h, payload, i)
}

// active measures active messages: the round trip of a request and its reply, and a flood of requests. A size of 0 is a
// Short request with one argument, any other a Medium one with so many bytes of payload, answered in kind.
func (p *pair) active(ctx context.Context, c Config) error {
	ep, most := p.on.Endpoint(), slices.Max(c.Sizes)
	if most > ep.MaxMedium() {
		return fmt.Errorf("%w: %d bytes, a Medium message has at most %d", am.ErrSize, most, ep.MaxMedium())
	}
	e, err := newEnd(ep, most, (*end).take)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name, unit string
		units      float64 // in a second
		run        func(payload []byte, n int) error
	}{
		{Active, bench.Micro, 1e6, e.pingPong},
		{Flood, bench.Nano, 1e9, func(payload []byte, n int) error { return e.flood(payload, n, 0) }},
	} {
		for _, size := range c.Sizes {
			payload := pattern(size)
			err := p.measure(ctx, func() ([]bench.Row, error) {
				took, n, err := c.timed(c.least, func(n int) error { return m.run(payload, n) })
				if err == nil {
					err = p.end()
				}
				return []bench.Row{row(m.name, size, took.Seconds()*m.units/float64(n), m.unit)}, errors.Join(err, e.wrong)
			}, func() error { return p.follow(e.broken) })
			if err != nil {
				return fmt.Errorf("size %d: %w", size, err)
			}
		}
	}
	return nil
}

// timed runs f for the window, after a pass of n times that finds how often that is.
func (c Config) timed(n int, f func(n int) error) (time.Duration, int, error) {
	start := time.Now()
	if err := f(n); err != nil {
		return 0, n, err
	}
	n = max(n, int(min(1e9, float64(n)*float64(c.Window)/float64(max(1, time.Since(start))))))
	start = time.Now()
	err := f(n)
	return time.Since(start), n, err
}
