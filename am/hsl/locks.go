package hsl

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// Mode says whether the rules are checked that cost more than a few nanoseconds.
type Mode uint8

const (
	Auto      Mode = iota // with the race detector, or the tag golci_invariants
	Checked               // always: about a microsecond for each lock and unlock
	Unchecked             // never
)

// Config of Locks. The zero value is usable.
type Config struct {
	Mode     Mode          // what is checked
	LongHold time.Duration // before Warn is told of a lock held, at its release; default 1 s; checked mode only
	LongWait time.Duration // before Warn is told of a Lock that waits, and again after each; default 10 s
	Warn     func(error)   // on the goroutine concerned; default: print to standard error
}

const (
	defaultLongHold = time.Second
	defaultLongWait = 10 * time.Second
)

// Locks are the handler-safe locks of one rank.
type Locks struct {
	e       *am.Endpoint
	rank    int
	checked bool
	cfg     Config
	now     func() time.Time // the clock; tests have their own

	mu   sync.Mutex          // guards the rest
	live map[*Lock]struct{}  // initialised and not destroyed
	held map[uintptr][]*Lock // by goroutine, in the order of taking, while it holds any; checked mode only
}

// New makes the locks of e's rank. In checked mode e asks them before it sends, replies or polls, so call it before
// traffic, and once for an endpoint. With e nil there are no such questions: for locks that no handler takes.
func New(e *am.Endpoint, cfg Config) *Locks {
	if cfg.LongHold <= 0 {
		cfg.LongHold = defaultLongHold
	}
	if cfg.LongWait <= 0 {
		cfg.LongWait = defaultLongWait
	}
	if cfg.Warn == nil {
		cfg.Warn = func(err error) { fmt.Fprintln(os.Stderr, err) }
	}
	s := &Locks{e: e, rank: -1, cfg: cfg, now: time.Now, live: map[*Lock]struct{}{}, held: map[uintptr][]*Lock{}}
	s.checked = cfg.Mode == Checked || cfg.Mode == Auto && invariants.Enabled
	if e != nil {
		s.rank = e.Rank()
	}
	if s.checked && e != nil {
		e.SetGuard(s)
	}
	return s
}

// Checked tells whether all rules are checked.
func (s *Locks) Checked() bool { return s.checked }

// New makes a lock; name appears in errors.
func (s *Locks) New(name string) *Lock {
	l := new(Lock)
	s.setName(l, name)
	return l
}

// Init initialises l, a zero Lock or a destroyed one; name appears in errors. ErrTwice if it is initialised already.
func (s *Locks) Init(l *Lock, name string) error {
	if l.set != nil && l.owner.Load() != destroyed {
		return l.lockError(ErrTwice, s.callerPlace(1))
	}
	s.setName(l, name)
	return nil
}

func (s *Locks) setName(l *Lock, name string) {
	l.set, l.name = s, name
	l.owner.Store(free)
	s.mu.Lock()
	s.live[l] = struct{}{}
	s.mu.Unlock()
}

// Close destroys all locks. Those that are held it leaves, and returns an ErrBusy for each.
func (s *Locks) Close() error {
	pc := s.callerPlace(1)
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.live))
	s.mu.Unlock()
	var errs []error
	for _, l := range all {
		if err := l.destroy(pc); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// currentThread is the fult thread that calls, or nil.
func (s *Locks) currentThread() *fult.Thread {
	if s.e == nil {
		return nil
	}
	return s.e.Progress().Current()
}
