package reliable

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	core "github.com/golci/golci/comm/reliable"
)

// world is a number of senders, the receiver behind them (the last node), and the network, in virtual time.
type world struct {
	cfg    Config
	now    time.Duration
	nodes  []*node
	away   flights // packets on their way
	spare  [][]byte
	order  uint64
	dice   *rand.Rand
	faults faults
	shared link            // towards the receiver
	back   []link          // towards each sender
	delay  []time.Duration // one way, of each sender's path
	sent   uint64          // bytes of bodies handed to the network
	lost   uint64          // those that did not arrive
}

// flight is a packet on its way.
type flight struct {
	at       time.Duration
	order    uint64 // of those that arrive at one time
	src, dst int
	packet   []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].order < f[j].order
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	o := *f
	x := o[len(o)-1]
	*f = o[:len(o)-1]
	return x
}

// unit is how much of a queue of the core, in messages, is filled by one who floods: enough to keep a link busy.
const unit = 64

func newWorld(c Config) (*world, error) {
	w := &world{cfg: c, dice: rand.New(rand.NewPCG(c.Seed, 1))}
	w.faults = faults{loss: c.Loss, reorder: c.Reorder, dup: c.Dup, within: c.RTT, dice: rand.New(rand.NewPCG(c.Seed, 2))}
	w.shared = link{rate: c.Rate, queue: c.Queue}
	for i := range c.Senders + 1 {
		n := &node{w: w, id: i, scratch: make([]byte, core.MaxMTU)}
		var err error
		if n.core, err = core.New(core.Config{Sink: n, Queue: unit, MaxMessage: max(1<<20, c.Size)}); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		w.nodes = append(w.nodes, n)
	}
	for i := range c.Senders {
		w.back = append(w.back, link{rate: c.Rate, queue: c.Queue})
		w.delay = append(w.delay, c.RTT/2)
		if err := w.join(i); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// join makes a sender and the receiver a pair.
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

// carry decides what becomes of a packet, which it copies.
func (w *world) carry(src, dst int, packet []byte) {
	body := uint64(bodySize(packet))
	w.sent += body
	path, delay := &w.shared, time.Duration(0)
	if dst == w.receiver().id {
		delay = w.delay[src]
	} else {
		path, delay = &w.back[dst], w.delay[dst]
	}
	gone, ok := path.pass(len(packet), w.now+time.Duration(w.dice.Int64N(int64(cables))))
	var arrivals []time.Duration
	if ok {
		arrivals = w.faults.fate(gone + delay)
	}
	if len(arrivals) == 0 {
		w.lost += body
	}
	for _, at := range arrivals {
		w.order++
		heap.Push(&w.away, flight{at: at, order: w.order, src: src, dst: dst, packet: w.copy(packet)})
	}
}

func (w *world) copy(packet []byte) []byte {
	if k := len(w.spare); k > 0 {
		c := w.spare[k-1]
		w.spare = w.spare[:k-1]
		return append(c[:0], packet...)
	}
	return append(make([]byte, 0, w.cfg.MTU), packet...)
}

// run lets time pass until end.
func (w *world) run(end time.Duration) {
	w.poll()
	for w.step(end) {
	}
}

// step goes to the next thing that happens; false if that is not before end.
func (w *world) step(end time.Duration) bool {
	next := end
	if len(w.away) > 0 {
		next = min(next, w.away[0].at)
	}
	for _, n := range w.nodes {
		next = min(next, n.core.NextTimer(), n.wakes())
	}
	w.now = max(w.now, next)
	if w.now >= end {
		return false
	}
	for len(w.away) > 0 && w.away[0].at <= w.now {
		f := heap.Pop(&w.away).(flight)
		w.nodes[f.dst].core.Incoming(f.src, f.packet, w.now)
		w.spare = append(w.spare, f.packet)
	}
	w.poll()
	return true
}

// budget is how many packets a rank sends in one go.
const budget = 64

// poll has each rank send what there is.
func (w *world) poll() {
	for _, n := range w.nodes {
		if n.traffic != nil {
			n.traffic.feed(n)
		}
		n.core.Outgoing(w.now, budget, n)
	}
}

// drain stops the traffic, waits until nothing is on its way any more, and looks whether everything has arrived.
func (w *world) drain() error {
	const patience = 10 * time.Minute
	for _, n := range w.senders() {
		n.traffic = nil
	}
	for end := w.now + patience; w.now < end && !w.settled(); {
		w.run(min(end, w.now+100*time.Millisecond))
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
