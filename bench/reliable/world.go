package reliable

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/golci/golci/internal/test/simlink"
	"github.com/golci/golci/internal/transport/badnet"
	core "github.com/golci/golci/internal/transport/reliable"
)

// world is a number of senders, the receiver behind them (the last node), and the network.
type world struct {
	simlink.Net
	cfg    Config
	nodes  []*node
	dice   *rand.Rand
	faults *badnet.Fate
	shared simlink.Link    // towards the receiver
	back   []simlink.Link  // towards each sender, but for the delay
	delay  []time.Duration // one way, of each sender's path
	sent   uint64          // bytes of bodies handed to the network
	lost   uint64          // those that did not arrive
}

// cables differ by up to so much for each packet, so that senders do not march in step.
const cables = 2 * time.Microsecond

// unit is how much of a queue of the core, in messages, is filled by one who floods: enough to keep a link busy.
const unit = 64

func newWorld(c Config) (*world, error) {
	w := &world{cfg: c, dice: rand.New(rand.NewPCG(c.Seed, 1))}
	w.Fate = w.fate
	var err error
	if w.faults, err = badnet.NewFate(badnet.Faults{Seed: c.Seed, Loss: c.Loss, Reorder: c.Reorder, Dup: c.Dup, ReorderBy: c.RTT}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	w.shared = simlink.Link{Rate: c.Rate, Queue: c.Queue}
	for range c.Senders + 1 {
		n := &node{w: w, scratch: make([]byte, core.MaxMTU)}
		if n.core, err = core.New(core.Config{Sink: n, Queue: unit, MaxMessage: max(1<<20, c.Size)}); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		n.id = w.Join(n)
		w.nodes = append(w.nodes, n)
	}
	for i := range c.Senders {
		w.back = append(w.back, simlink.Link{Rate: c.Rate, Queue: c.Queue})
		w.delay = append(w.delay, c.RTT/2)
		if err := w.join(i); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) join(sender int) error {
	there := core.Link{SendSeq: w.dice.Uint32(), RecvSeq: w.dice.Uint32(), MTU: w.cfg.MTU}
	back := core.Link{SendSeq: there.RecvSeq, RecvSeq: there.SendSeq, MTU: w.cfg.MTU}
	if err := w.nodes[sender].core.Add(w.receiver().id, there, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err := w.receiver().core.Add(sender, back, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

func (w *world) receiver() *node  { return w.nodes[len(w.nodes)-1] }
func (w *world) senders() []*node { return w.nodes[:len(w.nodes)-1] }

// fate takes a packet through the link and the faults.
func (w *world) fate(src, dst int, packet []byte, now time.Duration) []time.Duration {
	path, delay := &w.shared, time.Duration(0)
	if dst == w.receiver().id {
		delay = w.delay[src]
	} else {
		path, delay = &w.back[dst], w.delay[dst]
	}
	at, ok := path.Pass(len(packet), now+time.Duration(w.dice.Int64N(int64(cables))))
	if !ok {
		return nil
	}
	return w.faults.Times(at + delay)
}

// drain stops the traffic, waits until nothing is on its way any more, and looks whether everything has arrived.
func (w *world) drain() error {
	const patience = 10 * time.Minute
	for _, n := range w.senders() {
		n.traffic = nil
	}
	for end := w.Now + patience; w.Now < end && !w.settled(); {
		w.Run(min(end, w.Now+100*time.Millisecond))
	}
	for _, n := range w.senders() {
		if err := n.totals(); err != nil {
			return err
		}
	}
	return w.receiver().err
}

func (w *world) settled() bool {
	for _, n := range w.senders() {
		if n.open() > 0 {
			return false
		}
	}
	return true
}
