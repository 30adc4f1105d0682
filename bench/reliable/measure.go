package reliable

import (
	"slices"
	"time"
)

// Loss is what one flow does over a link of some loss.
type Loss struct {
	Config        Config
	Goodput       float64 // bytes of messages per second, of one who sends all the time
	Sent          uint64  // bytes of bodies handed to the network for that, first and again
	Lost, Resent  uint64  // of these; bytes
	Timeouts      uint64
	Spurious      uint64        // resends of what had arrived, as far as can be told
	P50, P99, Top time.Duration // of a message's time at the load of Config, from when it is due until its last byte has come; Top: 0.999
}

// over is 0 where b is.
func over(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// MeasureLoss runs one flow with c.Loss, twice: a flood for c.Length, and c.Count messages at c.Load. Errors:
// ErrConfig, ErrTotals.
func MeasureLoss(c Config) (*Loss, error) {
	c, err := c.Fill()
	if err != nil {
		return nil, err
	}
	c.Senders = 1
	out := &Loss{Config: c}
	if err := out.flood(); err != nil {
		return nil, err
	}
	return out, out.load()
}

func (l *Loss) flood() error {
	w, err := newWorld(l.Config)
	if err != nil {
		return err
	}
	s := w.nodes[0]
	s.traffic = flood(l.Config, 0)
	w.Run(l.Config.Length)
	l.Goodput = float64(s.delivered) / l.Config.Length.Seconds()
	if err := w.drain(); err != nil {
		return err
	}
	st := s.core.Stats(w.receiver().id)
	l.Sent, l.Lost, l.Resent, l.Timeouts, l.Spurious = w.sent, w.lost, st.ResentBytes, st.Timeouts, st.Spurious
	return nil
}

func (l *Loss) load() error {
	w, err := newWorld(l.Config)
	if err != nil {
		return err
	}
	s := w.nodes[0]
	s.traffic = steady(l.Config)
	for !s.traffic.done() && s.err == nil && w.receiver().err == nil {
		w.Run(w.Now + 100*time.Millisecond)
	}
	if err := w.drain(); err != nil {
		return err
	}
	slices.Sort(s.took)
	l.P50, l.P99, l.Top = quantile(s.took, 0.5), quantile(s.took, 0.99), quantile(s.took, 0.999)
	return nil
}

// quantile of sorted times: the least that at least the part q of them do not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q * float64(len(sorted)))
	if float64(i) == q*float64(len(sorted)) {
		i--
	}
	return sorted[max(0, min(i, len(sorted)-1))]
}

// Scenario is how several senders differ.
type Scenario string

const (
	Together  Scenario = "together"  // all start at once, equal round trips
	Staggered Scenario = "staggered" // one after the other, Stagger apart
	Unequal   Scenario = "unequal"   // round trips from RTT to Spread times RTT
)

// Scenarios lists them.
func Scenarios() []Scenario { return []Scenario{Together, Staggered, Unequal} }

// Share is how senders share a bottleneck.
type Share struct {
	Config   Config
	Scenario Scenario
	Each     []float64 // bytes per second of each sender, once all have run for a while
	Use      float64   // their sum as a part of the bottleneck's rate
	Jain     float64   // Jain's index of them: 1 is even, 1/n means that one has it all
	LostPart float64   // bytes lost, of those sent, from the beginning
	Resent   float64   // bytes sent again, over those lost; 0 where none were
}

// MeasureShare runs c.Senders floods into one receiver behind the bottleneck, and measures, from c.Length after the
// last has started, for three times that. Every message is accounted for. Errors: ErrConfig, ErrTotals.
func MeasureShare(c Config, s Scenario) (*Share, error) {
	c, err := c.Fill()
	if err != nil {
		return nil, err
	}
	w, err := newWorld(c)
	if err != nil {
		return nil, err
	}
	last := w.start(s)
	begin, length := last+c.Length, 3*c.Length
	w.Run(begin)
	before := w.delivered()
	w.Run(begin + length)
	out := &Share{Config: c, Scenario: s, Each: w.delivered()}
	for i := range out.Each {
		out.Each[i] = (out.Each[i] - before[i]) / length.Seconds()
	}
	out.Use, out.Jain = fairness(out.Each, c.Rate)
	if err := w.drain(); err != nil {
		return nil, err
	}
	out.losses(w)
	return out, nil
}

// start gives the senders their traffic and paths, and returns when the last starts.
func (w *world) start(s Scenario) (last time.Duration) {
	n := len(w.senders())
	for i, sender := range w.senders() {
		if s == Staggered {
			last = time.Duration(i) * w.cfg.Stagger
		}
		if s == Unequal && n > 1 {
			longer := 1 + (w.cfg.Spread-1)*float64(i)/float64(n-1)
			w.delay[i] = time.Duration(float64(w.delay[i]) * longer)
		}
		sender.traffic = flood(w.cfg, last)
	}
	return last
}

func (w *world) delivered() []float64 {
	var out []float64
	for _, n := range w.senders() {
		out = append(out, float64(n.delivered))
	}
	return out
}

func (s *Share) losses(w *world) {
	resent := uint64(0)
	for _, n := range w.senders() {
		resent += n.core.Stats(w.receiver().id).ResentBytes
	}
	s.LostPart, s.Resent = over(w.lost, w.sent), over(resent, w.lost)
}

func fairness(each []float64, rate float64) (use, jain float64) {
	var sum, squares float64
	for _, x := range each {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 0, 0
	}
	return sum / rate, sum * sum / float64(len(each)) / squares
}
