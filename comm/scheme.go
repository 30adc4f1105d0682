package comm

import (
	"math/bits"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/transport/selection"
)

// Scheme is how the bytes of a large message travel between two ranks that reach each other's memory and copy by
// themselves.
type Scheme uint8

// The ways of a message. Auto is the one that has taken the least time lately, for messages of about that size.
const (
	Auto   Scheme = iota
	Stream        // the sender puts chunks into the segment, the receiver copies them out
	Get           // the receiver copies all
	Halves        // each copies a half

	withEnvelope // the sender puts them into the record of the envelope
	asking       // the sender asks the receiver first, which chooses one of the schemes above
)

// traffic is what goes between two ranks beside a message. It decides which schemes there are, and which is tried
// first.
type traffic uint8

const (
	oneWay   traffic = iota
	bothWays         // this rank has messages for the sender under way
	alone            // the receiver wants to write the buffer alone; see Options
	ofSender         // of a message that may go with its envelope, for the sender
	traffics
)

// orders are the schemes in the order in which they are tried, by traffic and size class. Between ranks that both copy
// a message halves cost two system calls more for each, which only long ones can be worth. So short ones never go in
// halves there.
var orders = func() (o [traffics][sizeClasses][]Scheme) {
	for size := range sizeClasses {
		o[oneWay][size] = []Scheme{Halves, Get, Stream}
		o[bothWays][size] = []Scheme{Get, Stream}
		if size > sizeClassOf(exchangeMost) {
			o[bothWays][size] = []Scheme{Get, Stream, Halves}
		}
		o[alone][size] = []Scheme{Get, Stream}
		o[ofSender][size] = []Scheme{withEnvelope, asking}
	}
	return o
}()

// exchangeMost is the longest message in bytes that does not go in halves while messages go both ways.
const exchangeMost = 256 << 10

// A size class is the messages from one power of two to the next, the last class all that are longer.
const (
	firstClass  = 13 // bits of the longest size of the first class
	sizeClasses = 10
)

func sizeClassOf(n int64) int { return min(max(bits.Len64(uint64(n-1))-firstClass, 0), sizeClasses-1) }

// An epoch has at least epochMost messages, or fewer if they are long, and as many as were under way at once during the
// epoch before. One message alone tells little, and those that are under way together share what there is: only where
// they are of one epoch does that tell what its scheme costs.
const (
	epochBytes = 1 << 20
	epochMost  = 8
	epochs     = 16 // of a class that are remembered while messages of theirs are under way
)

// Where messages go both ways an epoch has bothBytes and bothMost in their place. The other direction changes its
// scheme only after the first messages of the epoch.
const (
	bothBytes = 16 << 20
	bothMost  = 64
)

// An epoch of the sender has sentBytes and sentMost in their place. A message that goes with its envelope is over for
// the sender when it lies in the receive space. Only what is several times as much as that space holds tells how fast
// the receiver takes it out.
const (
	sentBytes = 2 << 20
	sentMost  = 128
)

// paths are the large messages between this rank and one peer, as the schemes that they take are learnt. What the peer
// does counts as well.
type paths struct {
	mu       spin.Lock    // guards the rest
	both     int          // messages for which traffic is taken to go both ways
	received recentScheme // of messages of the peer, which might have come with their envelope
	went     recentScheme // of messages of this rank, for which the peer has chosen
	classes  [traffics][sizeClasses]*pathClass
}

// recentScheme is the scheme of the last message of each size class, by the peer's choice.
type recentScheme [sizeClasses]struct {
	scheme      Scheme
	repliesLeft int // messages of the other direction that go the same way
}

// hearScheme notes in h, which is came or went, the scheme of a message of n bytes.
func (p *paths) hearScheme(h *recentScheme, w Scheme, n int64) {
	p.mu.Lock()
	x := &h[sizeClassOf(n)]
	x.scheme, x.repliesLeft = w, bothFor
	p.mu.Unlock()
}

// followHeard gives the scheme that h has for a message of n bytes, Auto if it has not heard of one lately.
func (p *paths) followHeard(h *recentScheme, n int64) Scheme {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := &h[sizeClassOf(n)]
	if x.repliesLeft == 0 {
		return Auto
	}
	x.repliesLeft--
	return x.scheme
}

// bothFor is for how many messages traffic that went both ways is taken to do so: it pauses at the end of each window.
const bothFor = 64

// pathClass is the messages of one traffic and size class.
type pathClass struct {
	picker selection.Picker
	number uint32 // of the epoch that begins messages
	under  int    // messages under way
	last   uint64 // end of the last epoch that is complete, in ticks
	epochs [epochs]timedBatch
}

// timedBatch is messages of one scheme that begin one after another.
type timedBatch struct {
	scheme             int // index in its order
	size, begun, ended int // messages
	peak               int // the most that were under way at once
	failed             bool
	first              uint64 // when the first of them began, in ticks
	bytes              int64
}

// schemeTiming is what a message remembers of its scheme. The zero schemeTiming is that of one whose scheme was not
// chosen so.
type schemeTiming struct {
	scheme  Scheme
	traffic traffic
	epoch   uint32
}

// beginTiming gives the timing of the next message of n bytes, which begins now.
func (p *paths) beginTiming(n int64, t traffic, now uint64) schemeTiming {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := sizeClassOf(n)
	c := p.classFor(t, size)
	e := &c.epochs[c.number%epochs]
	if e.begun == e.size {
		peak := e.peak
		c.number++
		e = &c.epochs[c.number%epochs]
		least := min(max(epochBytes/n, 1), epochMost)
		switch t {
		case ofSender:
			least = min(sentBytes/n, sentMost)
		case bothWays:
			least = min(max(bothBytes/n, epochMost), bothMost)
		}
		*e = timedBatch{scheme: c.picker.Pick(), size: max(int(least), peak), first: now}
	}
	e.begun++
	c.under++
	e.peak = max(e.peak, c.under)
	return schemeTiming{orders[t][size][e.scheme], t, c.number}
}

// traffic tells what goes beside a message of this rank's own, if offers of them are under way.
func (p *paths) traffic(offers int32) traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	if offers > 0 {
		p.both = bothFor
	}
	if p.both == 0 {
		return oneWay
	}
	p.both--
	return bothWays
}

func (p *paths) classFor(t traffic, size int) *pathClass {
	at := &p.classes[t][size]
	if *at == nil {
		*at = &pathClass{picker: selection.New(len(orders[t][size]))}
	}
	return *at
}

// endTiming notes the end of a message that beginTiming gave that timing. The last message of an epoch tells what
// the epoch has taken, from the end of the epoch before if that was under way yet.
func (p *paths) endTiming(x schemeTiming, n int64, ok bool, now uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.classFor(x.traffic, sizeClassOf(n))
	e, under := &c.epochs[x.epoch%epochs], c.under
	c.under--
	if c.number-x.epoch >= epochs {
		return // it is forgotten
	}
	e.ended++
	e.bytes += n
	e.failed = e.failed || !ok
	if e.ended < e.size {
		return
	}
	from := e.first
	if int64(c.last-from) > 0 {
		from = c.last
	}
	if c.last = now; !e.failed && max(e.peak, under) <= e.size {
		c.picker.Note(e.scheme, float64(now-from)/float64(e.bytes))
	} else {
		c.picker.Lose(e.scheme)
	}
}

// pathsOf are the paths of peer, made at their first use.
func (s *Server) pathsOf(peer int32) *paths {
	if p, ok := s.paths.Load(peer); ok {
		return p.(*paths)
	}
	p, _ := s.paths.LoadOrStore(peer, new(paths))
	return p.(*paths)
}

// What one direction costs depends on the scheme of the other. Two ranks that measure at once may each find that best
// which is best beside the other's scheme, and stay there, though both would be quicker by another. So where messages
// go both ways, at once or in turn, the lower rank measures, and the higher one takes the schemes that the lower one
// takes.

// chooseScheme gives the scheme for the receive o from a near peer, which offers its bytes.
func (s *Server) chooseScheme(o *op, r conduit.Reach) Scheme {
	switch {
	case o.endable: // its end does not depend on what the sender does meanwhile
		return Get
	case o.alone && s.scheme == Halves:
		return Get
	case s.scheme != Auto:
		return s.scheme
	case !r.Put || !s.streams:
		return Get
	}
	p, t := s.pathsOf(o.peer), alone
	if !o.alone {
		if int(o.peer) < s.rank {
			if w := p.followHeard(&p.went, o.recv.want); w != Auto {
				return w
			}
		}
		t = p.traffic(s.peers[o.peer].offers.Load())
	}
	o.recv.timing = p.beginTiming(o.recv.want, t, arch.Ticks())
	return o.recv.timing.scheme
}

// FixedScheme is the scheme of large messages between near ranks, Auto if it is measured.
func (s *Server) FixedScheme() Scheme { return s.scheme }

// hearChoice notes that the receiver of the send o has chosen scheme w.
func (s *Server) hearChoice(o *op, w Scheme) {
	if o.send.offered && int(o.peer) < s.rank && s.scheme == Auto && s.e.Reach(int(o.peer)).Near {
		p := s.pathsOf(o.peer)
		p.hearScheme(&p.went, w, o.size)
	}
}

// chooseSend gives the send o, which may travel with its envelope or not, its scheme. Over a network to ask takes a
// round trip, and there it always travels with its envelope.
func (s *Server) chooseSend(o *op) {
	if s.scheme != Auto || int(o.peer) == s.rank || !s.e.Reach(int(o.peer)).Near {
		return
	}
	p, w := s.pathsOf(o.peer), Auto
	if int(o.peer) < s.rank {
		w = p.followHeard(&p.received, o.size)
	}
	if w == Auto {
		o.send.timing = p.beginTiming(o.size, ofSender, arch.Ticks())
		w = o.send.timing.scheme
	}
	o.send.asks = w == asking
}

// hearScheme notes how a message of n bytes has come from src.
func (s *Server) hearScheme(src int, w Scheme, n int64) {
	if n > int64(s.sure) && n <= int64(s.eager) && src < s.rank {
		p := s.pathsOf(int32(src))
		p.hearScheme(&p.received, w, n)
	}
}

// noteScheme notes that o, of n bytes, is over for this rank: t is what it remembers of its scheme.
func (o *op) noteScheme(t *schemeTiming, n int64) {
	if t.scheme == Auto {
		return // it was not chosen by what it costs
	}
	o.s.pathsOf(o.peer).endTiming(*t, n, o.err == nil, arch.Ticks())
	*t = schemeTiming{}
}
