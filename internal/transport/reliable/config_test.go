package reliable

import (
	"errors"
	"math"
	"testing"
	"time"
)

// TestConfigBounds: each setting is taken at its bound, and refused beyond it.
func TestConfigBounds(t *testing.T) {
	for _, c := range []struct {
		what string
		set  func(c *Config)
		ok   bool
	}{
		{"as it is", func(*Config) {}, true},
		{"no sink", func(c *Config) { c.Sink = nil }, false},
		{"one room", func(c *Config) { c.Rooms = 1 }, true},
		{"less than no room", func(c *Config) { c.Rooms = -1 }, false},
		{"all rooms", func(c *Config) { c.Rooms = Window }, true},
		{"more rooms than a window", func(c *Config) { c.Rooms = Window + 1 }, false},
		{"a negative tiny", func(c *Config) { c.Tiny = -1 }, false},
		{"a queue of one", func(c *Config) { c.Queue = 1 }, true},
		{"a negative queue", func(c *Config) { c.Queue = -1 }, false},
		{"every acknowledgement", func(c *Config) { c.AckEvery = 1 }, true},
		{"a negative number for acknowledgements", func(c *Config) { c.AckEvery = -1 }, false},
		{"one resend", func(c *Config) { c.ResendsPerPass = 1 }, true},
		{"negative resends", func(c *Config) { c.ResendsPerPass = -1 }, false},
		{"messages of a byte", func(c *Config) { c.MaxMessage = 1 }, true},
		{"negative messages", func(c *Config) { c.MaxMessage = -1 }, false},
		{"the longest messages", func(c *Config) { c.MaxMessage, c.Reassembly, c.Memory = math.MaxUint32, math.MaxUint32, math.MaxUint32 }, true},
		{"longer ones", func(c *Config) { c.MaxMessage, c.Reassembly, c.Memory = 1<<32, 1<<32, 1<<32 }, false},
		{"memory for one message", func(c *Config) { c.MaxMessage, c.Reassembly = 1000, 1000 }, true},
		{"memory for less", func(c *Config) { c.MaxMessage, c.Reassembly = 1000, 999 }, false},
		{"memory for one peer", func(c *Config) { c.Reassembly, c.Memory = 4<<20, 4<<20 }, true},
		{"memory for less than a peer", func(c *Config) { c.Reassembly, c.Memory = 4<<20, 4<<20-1 }, false},
		{"a negative delay", func(c *Config) { c.AckDelay = -1 }, false},
		{"a timeout beyond the delay", func(c *Config) { c.AckDelay, c.MinRTO = 1000, 1001 }, true},
		{"a timeout of the delay", func(c *Config) { c.AckDelay, c.MinRTO = 1000, 1000 }, false},
		{"one timeout", func(c *Config) { c.MinRTO, c.MaxRTO = time.Second, time.Second }, true},
		{"a greatest timeout below the least", func(c *Config) { c.MinRTO, c.MaxRTO = time.Second, time.Second-1 }, false},
		{"negative questions", func(c *Config) { c.AskEvery = -1 }, false},
		{"a negative keep-alive", func(c *Config) { c.KeepAlive = -1 }, false},
		{"death after the keep-alive", func(c *Config) { c.KeepAlive, c.DeadAfter = time.Second, time.Second+1 }, true},
		{"death with the keep-alive", func(c *Config) { c.KeepAlive, c.DeadAfter = time.Second, time.Second }, false},
	} {
		cfg := Config{Sink: &node{}}
		c.set(&cfg)
		if _, err := New(cfg); (err == nil) != c.ok || err != nil && !errors.Is(err, errConfig) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
