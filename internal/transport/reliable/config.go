package reliable

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// Window is the span of sequence numbers that a receiver takes from one peer, from the first missing one on. A
	// sender uses 3840 of them: the least packet has no room for a bitmap of more.
	Window = 4096
	// MinMTU is the least packet size of a peer in bytes. It holds the header and the SACK bitmap of the whole sending
	// window. With the headers below it, such a packet passes a path whose IP packets have 576 bytes.
	MinMTU = headerSize + 8*ackWords
	// MaxMTU is the greatest packet size of a peer in bytes.
	MaxMTU = math.MaxUint16
)

var (
	// errConfig is matched by errors about settings.
	errConfig = errors.New("reliable: bad configuration")
	// ErrSilent is matched by the error of a peer that was not heard of for Config.DeadAfter.
	ErrSilent = errors.New("reliable: peer is silent")
	// ErrStuck is matched by the error of a peer that is heard, but lacks one and the same segment for
	// Config.DeadAfter.
	ErrStuck = errors.New("reliable: a packet does not get through")
)

// Config has the settings of an Endpoint. withDefaults fills in zero fields.
type Config struct {
	// Sink gets the messages that arrive and the ends of sent ones; it must not be nil.
	Sink Sink
	// Rooms is the most segments per peer with a timer running, at most Window.
	Rooms int
	// Tiny is the longest message in bytes that takes the priority channel without being urgent.
	Tiny int
	// Queue is the most segments of copied messages, and the most long messages, that wait per peer and channel.
	Queue int
	// MaxMessage is the longest message in bytes; a longer put is taken, since it needs no memory here.
	MaxMessage int
	// Reassembly is the most memory in bytes for incomplete long messages of one peer, at least MaxMessage. It must be
	// the same on all ranks: a sender begins no more than its peer has memory for.
	Reassembly int
	// Memory is the most memory in bytes for incomplete long messages of all peers together. Beyond it each peer may
	// have one such message, because a sender would give up a peer that takes none.
	Memory int
	// AckDelay is how long an acknowledgement may wait for a packet to share. AckEvery is how many segments may wait
	// for one.
	AckDelay time.Duration
	AckEvery int
	// MinRTO and MaxRTO bound the retransmit timeout.
	MinRTO, MaxRTO time.Duration
	// ResendsPerPass is the most resends of one call of Outgoing.
	ResendsPerPass int
	// AskEvery is the least time between questions to a peer whose packets come back, and from the last of them to the
	// verdict. It counts up to KeepAlive.
	AskEvery time.Duration
	// KeepAlive is the silence after which a peer is asked for a sign of life. After a silence of DeadAfter it is dead.
	// Both count only for pairs in use. DeadAfter is also the least time before a living peer is given up because one
	// segment does not get through.
	KeepAlive, DeadAfter time.Duration
}

// withDefaults returns c with zero fields set to their defaults.
func (c Config) withDefaults() Config {
	def(&c.Rooms, Window)
	def(&c.Tiny, 768)
	def(&c.Queue, 256)
	def(&c.MaxMessage, 1<<20)
	def(&c.Reassembly, 4*c.MaxMessage)
	def(&c.Memory, max(256<<20, c.Reassembly))
	def(&c.AckDelay, 50*time.Microsecond)
	def(&c.AckEvery, 64)
	def(&c.MinRTO, 2*time.Millisecond)
	def(&c.MaxRTO, 500*time.Millisecond)
	def(&c.ResendsPerPass, 16)
	def(&c.AskEvery, 10*time.Millisecond)
	def(&c.KeepAlive, time.Second)
	def(&c.DeadAfter, 10*time.Second)
	return c
}

func def[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

func (c *Config) checkConfig() error {
	switch {
	case c.Sink == nil:
		return fmt.Errorf("%w: no sink", errConfig)
	case c.Rooms < 1 || c.Rooms > Window:
		return fmt.Errorf("%w: %d rooms, want 1 to %d", errConfig, c.Rooms, Window)
	case c.Tiny < 0 || c.Queue < 1 || c.AckEvery < 1 || c.ResendsPerPass < 1:
		return fmt.Errorf("%w: tiny %d, queue %d, ack every %d, %d resends a pass",
			errConfig, c.Tiny, c.Queue, c.AckEvery, c.ResendsPerPass)
	case c.MaxMessage < 1 || int64(c.MaxMessage) > math.MaxUint32 || c.Reassembly < c.MaxMessage || c.Memory < c.Reassembly:
		return fmt.Errorf("%w: messages of %d bytes, %d to reassemble them", errConfig, c.MaxMessage, c.Reassembly)
	case c.AckDelay < 0 || c.MinRTO <= c.AckDelay || c.MaxRTO < c.MinRTO:
		return fmt.Errorf("%w: ack delay %v, timeout %v to %v", errConfig, c.AckDelay, c.MinRTO, c.MaxRTO)
	case c.AskEvery <= 0:
		return fmt.Errorf("%w: questions every %v", errConfig, c.AskEvery)
	case c.KeepAlive <= 0 || c.DeadAfter <= c.KeepAlive:
		return fmt.Errorf("%w: keep-alive %v, dead after %v", errConfig, c.KeepAlive, c.DeadAfter)
	}
	return nil
}

// Link has the values on which the two ends of a pair agreed before the first packet.
type Link struct {
	// SendSeq and RecvSeq are the first sequence numbers of the two directions. Each sender draws its own at random.
	// One end's SendSeq is the other's RecvSeq.
	SendSeq, RecvSeq uint32
	// Number is the first packet number. Each packet gets the next; none is used twice.
	Number uint64
	// MTU is the longest packet in bytes towards the peer, MinMTU to MaxMTU, without what the layer above adds.
	MTU int
	// Ways is by how many ways packets go, at most maxWays; 0 means one. All must return packets before a peer is dead
	// because of that.
	Ways int
}

func checkMTU(mtu int) error {
	if mtu < MinMTU || mtu > MaxMTU {
		return fmt.Errorf("%w: packets of %d bytes, want %d to %d", errConfig, mtu, MinMTU, MaxMTU)
	}
	return nil
}
