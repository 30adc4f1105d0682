// Package reliable simulates the reliable core (internal/transport/reliable) over a bad link, in virtual time. It sends
// no packet and reads no clock. The same Config gives the same figures on any machine. It measures goodput and the time
// that a message takes against loss, and how several senders share a bottleneck.
package reliable

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	core "github.com/golci/golci/internal/transport/reliable"
)

// Errors of a run, for errors.Is.
var (
	ErrConfig = errors.New("reliable bench: bad configuration")
	ErrTotals = errors.New("reliable bench: not everything arrived, exactly once")
)

// Config of a run. Fill puts the defaults in the place of zeros.
type Config struct {
	Size    int           // bytes of a message; default 64 KiB
	RTT     time.Duration // of the empty path, both ways together; default 1 ms
	Rate    float64       // bytes per second of the link (of the bottleneck, with several senders); default 125e6: 1 Gbit/s
	Queue   time.Duration // what the buffer before the link holds, in time on the link; default 1 ms
	MTU     int           // longest packet of the core in bytes; default 1400
	Loss    float64       // chance of a packet, either way, to be lost
	Reorder float64       // chance to come up to RTT later than it should
	Dup     float64       // chance to come twice
	Seed    uint64        // of everything random
	Length  time.Duration // virtual time of a measurement of goodput; default 1 s
	Load    float64       // part of Rate that is offered while the time of messages is measured; default 0.2
	Count   int           // messages of which it is measured; default 5000

	Senders int           // into one receiver; default 1
	Stagger time.Duration // between their starts, where they start one after the other; default 200 ms
	Spread  float64       // greatest round trip over the least, where they differ; default 4
}

// Fill returns c with its defaults, or an error that matches ErrConfig.
func (c Config) Fill() (Config, error) {
	c.Size = cmp.Or(c.Size, 64<<10)
	c.RTT = cmp.Or(c.RTT, time.Millisecond)
	c.Rate = cmp.Or(c.Rate, 125e6)
	c.Queue = cmp.Or(c.Queue, time.Millisecond)
	c.MTU = cmp.Or(c.MTU, 1400)
	c.Length = cmp.Or(c.Length, time.Second)
	c.Load = cmp.Or(c.Load, 0.2)
	c.Count = cmp.Or(c.Count, 5000)
	c.Senders = cmp.Or(c.Senders, 1)
	c.Stagger = cmp.Or(c.Stagger, 200*time.Millisecond)
	c.Spread = cmp.Or(c.Spread, 4)
	return c, c.check()
}

// Limits of a run, which keep it in memory and its end in sight.
const (
	maxSize    = 1 << 30
	maxTime    = time.Hour
	maxSenders = 1000
	minRate    = 1e4 // bytes per second
	maxRate    = 1e12
)

func (c *Config) check() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"loss", c.Loss}, {"reorder", c.Reorder}, {"dup", c.Dup}} {
		if !(p.value >= 0 && p.value < 1) {
			return fmt.Errorf("%w: %s %v, want 0 or more and less than 1", ErrConfig, p.name, p.value)
		}
	}
	switch {
	case c.Size < 1 || c.Size > maxSize || c.Count < 1:
		return fmt.Errorf("%w: %d messages of %d bytes", ErrConfig, c.Count, c.Size)
	case !(c.Rate >= minRate && c.Rate <= maxRate):
		return fmt.Errorf("%w: rate of %v bytes per second, want %g to %g", ErrConfig, c.Rate, minRate, maxRate)
	case min(c.RTT, c.Queue, c.Length, c.Stagger) < time.Microsecond || max(c.RTT, c.Queue, c.Length, c.Stagger) > maxTime:
		return fmt.Errorf("%w: round trip %v, queue %v, length %v, stagger %v, want 1us to %v each", ErrConfig, c.RTT, c.Queue, c.Length, c.Stagger, maxTime)
	case c.MTU < core.MinMTU || c.MTU > core.MaxMTU:
		return fmt.Errorf("%w: packets of %d bytes, want %d to %d", ErrConfig, c.MTU, core.MinMTU, core.MaxMTU)
	case !(c.Load > 0 && c.Load <= 1):
		return fmt.Errorf("%w: load %v, want more than 0 and at most 1", ErrConfig, c.Load)
	case c.Senders < 1 || c.Senders > maxSenders || !(c.Spread >= 1 && c.Spread <= 1000):
		return fmt.Errorf("%w: %d senders, want 1 to %d; spread %v, want 1 to 1000", ErrConfig, c.Senders, maxSenders, c.Spread)
	}
	return nil
}
