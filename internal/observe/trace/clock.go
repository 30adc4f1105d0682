package trace

import (
	"os"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// Clock gives the times of records: ticks of the processor's counter, or nanoseconds where that is not steady.
type Clock struct {
	ticks  bool
	first  uint64    // ticks at origin
	origin time.Time // of Nanoseconds
}

// NewClock makes a clock that begins at 0 nanoseconds.
func NewClock() Clock {
	c := Clock{ticks: steadyTicks(), origin: time.Now()}
	if c.ticks {
		c.first = arch.Ticks()
	}
	return c
}

// Now is the time for records. It is not 0.
func (c *Clock) Now() uint64 {
	if c.ticks {
		return arch.Ticks()
	}
	return uint64(time.Since(c.origin)) + 1
}

// Scale gives the function from times of records to times since the clock was made. The later it is asked for, the
// more exact it is; it takes as long as a look at Go's clock.
func (c *Clock) Scale() func(now uint64) time.Duration {
	if !c.ticks {
		return func(now uint64) time.Duration { return time.Duration(now) }
	}
	since, ticks := time.Since(c.origin), arch.Ticks()
	rate := float64(since) / float64(max(ticks-c.first, 1))
	return func(now uint64) time.Duration { return time.Duration(float64(int64(now-c.first)) * rate) }
}

// steadyTicks tells whether the counter of the processor is a clock: the same on all cores, at one rate.
func steadyTicks() bool {
	if runtime.GOARCH == "arm64" {
		return true
	}
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && strings.TrimSpace(string(b)) == "tsc"
}

// MachineID is the same for processes that have the same clocks. It changes when the machine starts anew.
func MachineID() string {
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(b))
	}
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// note is what a recorder knows of clocks at one moment. It joins the times of records with those of other ranks.
type note struct {
	Now   uint64 `json:"now"`   // Recorder.Now
	Clock int64  `json:"clock"` // the machine's clock at that moment, in nanoseconds
	// Sync notes say more: rank 0's machine showed Theirs when this one showed Clock, plus or minus half of Within.
	Sync   bool  `json:"sync,omitempty"`
	Theirs int64 `json:"theirs,omitempty"`
	Within int64 `json:"within,omitempty"`
}

const looks = 5 // the quickest of so many looks at two clocks counts

// lookAtClocks reads both clocks at the same moment, as nearly as can be.
func (r *Recorder) lookAtClocks() (n note) {
	least := time.Duration(-1)
	for range looks {
		began := time.Now()
		before := r.Now()
		clock := machineClock()
		after := r.Now()
		if took := time.Since(began); least < 0 || took < least {
			least = took
			n = note{Now: before + (after-before)/2, Clock: clock}
		}
	}
	return n
}

// MachineTime is the clock of this machine in nanoseconds: the same for all processes there. It is no clock for
// records: a look at it costs a system call.
func MachineTime() int64 { return machineClock() }

// SetZero says what rank 0's machine showed at the time that the timeline calls 0. All ranks say the same. Without it
// the timeline of this rank alone begins when its recorder did.
func (r *Recorder) SetZero(clock int64) {
	if r != nil {
		r.mu.Lock()
		r.out.zero = &clock
		r.mu.Unlock()
	}
}

// Sync records a pair of clock readings: this machine's clock showed mine when that of rank 0's machine showed
// theirs. All are in nanoseconds. The error is at most half of within, the round-trip time of the measurement. It may
// be called again while the clocks drift. Ranks on rank 0's machine do not call it.
func (r *Recorder) Sync(mine, theirs, within int64) {
	if r == nil {
		return
	}
	n := r.lookAtClocks()
	r.mu.Lock()
	r.notes = append(r.notes, note{Now: n.Now, Clock: mine, Sync: true, Theirs: theirs, Within: within})
	r.mu.Unlock()
}

// timeMap turns one scale of time into another, by straight lines between known points. Beyond them the nearest line
// goes on.
type timeMap struct{ from, to []int64 }

// addPoint adds a point. Points that do not come later than the one before are left out.
func (m *timeMap) addPoint(from, to int64) {
	if n := len(m.from); n > 0 && from <= m.from[n-1] {
		return
	}
	m.from, m.to = append(m.from, from), append(m.to, to)
}

// toScale is t on the other scale. One point alone shifts, none leaves t alone.
func (m *timeMap) toScale(t int64) int64 {
	n := len(m.from)
	switch n {
	case 0:
		return t
	case 1:
		return t - m.from[0] + m.to[0]
	}
	i := sort.Search(n, func(i int) bool { return m.from[i] > t })
	i = min(max(i, 1), n-1)
	rate := float64(m.to[i]-m.to[i-1]) / float64(m.from[i]-m.from[i-1])
	return m.to[i-1] + int64(float64(t-m.from[i-1])*rate)
}
