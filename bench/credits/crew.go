package credits

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/rank"
)

// crew is the ranks of a job in this process. They run in slices, each rank in a goroutine of its own. The counters are
// read while a slice goes on.
type crew struct {
	team    *rank.Team
	eps     []*am.Endpoint
	tallies []tally
	stop    atomic.Bool           // no new requests
	sending atomic.Int64          // ranks that may still send
	failed  atomic.Pointer[error] // the first; nobody waits for the others then
}

// tally counts at one rank, in a cache line of its own.
type tally struct {
	sent, received, answers atomic.Uint64
	_                       [40]byte
}

// Indices of the handlers.
const (
	hTake   = iota + 1 // request, not answered
	hCheck             // request of a round trip
	hAnswer            // to hCheck
)

// assemble brings up ranks that only the crew polls, with those settings. The caller closes the team.
func assemble(ranks int, cfg rank.Config) (*crew, error) {
	team, err := rank.Local(ranks, cfg)
	if err != nil {
		return nil, fmt.Errorf("credits: %w", err)
	}
	w := &crew{team: team, tallies: make([]tally, ranks)}
	for i, x := range team.Ranks() {
		w.eps = append(w.eps, x.Endpoint())
		n := &w.tallies[i]
		took := func(*am.Token, []uint64, []byte) { n.received.Add(1) }
		answered := func(*am.Token, []uint64, []byte) { n.answers.Add(1) }
		err = errors.Join(err,
			w.eps[i].Register(hTake, am.Spec{Name: "take", MaxReply: am.NoReply, Run: took}),
			w.eps[i].Register(hCheck, am.Spec{Name: "check", Run: func(t *am.Token, _ []uint64, _ []byte) {
				if err := t.ReplyShort(hAnswer); err != nil {
					w.fail(err)
				}
			}}),
			w.eps[i].Register(hAnswer, am.Spec{Name: "answer", MaxReply: am.NoReply, Run: answered}))
	}
	if err != nil {
		return nil, fmt.Errorf("credits: %w", errors.Join(err, team.Close()))
	}
	return w, nil
}

// slice makes each rank send and poll while during runs, and then poll until all that was sent has come. It returns the
// time of all that.
func (w *crew) slice(send func(i int) error, during func()) (time.Duration, error) {
	var ranks sync.WaitGroup
	w.stop.Store(false)
	w.sending.Store(int64(len(w.eps)))
	start := time.Now()
	for i := range w.eps {
		ranks.Go(func() { w.rank(i, send) })
	}
	during()
	w.stop.Store(true)
	ranks.Wait()
	return time.Since(start), errors.Join(w.err(), w.check())
}

func (w *crew) rank(i int, send func(i int) error) {
	for !w.stop.Load() && w.err() == nil {
		if err := send(i); err != nil {
			w.fail(err)
		}
		w.poll(i)
	}
	w.sending.Add(-1)
	for w.err() == nil && (w.sending.Load() > 0 || w.underWay()) {
		w.poll(i)
	}
}

func (w *crew) poll(i int) {
	if w.eps[i].Poll() > 0 {
		return
	}
	runtime.Gosched()
	if err := w.eps[i].Err(); err != nil {
		w.fail(err)
	}
}

// burst sends so many requests of rank i to a peer.
func (w *crew) burst(i, to, n int, payload []byte) (err error) {
	w.tallies[i].sent.Add(uint64(n)) // before they can be received
	for k := 0; k < n && err == nil; k++ {
		if len(payload) > leastSize {
			err = w.eps[i].RequestMedium(to, hTake, payload)
		} else {
			err = w.eps[i].RequestShort(to, hTake, uint64(k))
		}
	}
	return err
}

// ping makes a round trip to a peer.
func (w *crew) ping(i, to int) error {
	n := w.tallies[i].answers.Load()
	if err := w.eps[i].RequestShort(to, hCheck, 0); err != nil {
		return err
	}
	for w.tallies[i].answers.Load() == n && w.err() == nil {
		w.poll(i)
	}
	return nil
}

func (w *crew) underWay() bool { return w.count().sent != w.count().received }

// counts are sums over the ranks.
type counts struct{ sent, received, answers uint64 }

func (w *crew) count() (c counts) {
	for i := range w.tallies {
		c.sent += w.tallies[i].sent.Load()
		c.received += w.tallies[i].received.Load()
		c.answers += w.tallies[i].answers.Load()
	}
	return c
}

func (w *crew) fail(err error) {
	err = fmt.Errorf("credits: %w", err)
	w.failed.CompareAndSwap(nil, &err)
}

func (w *crew) err() error {
	if e := w.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// check looks for what must hold when all is over.
func (w *crew) check() error {
	if w.err() != nil {
		return nil
	}
	if c := w.count(); c.sent != c.received {
		return fmt.Errorf("%w: %d of %d", ErrLost, c.received, c.sent)
	}
	for i, e := range w.eps {
		if err := e.CheckCredits(); err != nil {
			return fmt.Errorf("credits: rank %d: %w", i, err)
		}
	}
	return nil
}
