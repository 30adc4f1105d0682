package realm

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/events"
)

// Start joins this process to its job as one rank, as rank.Start does, and starts the runtime there. It blocks until
// all ranks are ready. cfg.Attach is called, too. Errors: those of rank.Start; ErrRegistered if ranks have registered
// different tasks, reductions or operators.
func Start(ctx context.Context, cfg rank.Config, rc Config) (*Runtime, error) {
	var rt *Runtime
	withRuntime(&cfg, rc, func(x *Runtime) { rt = x })
	r, err := rank.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := rt.Begin(); err != nil {
		return nil, r.Abort(1, err)
	}
	return rt, nil
}

// Init is Start for a program that is a rank and nothing else: it takes settings from the environment, may raise
// GOMAXPROCS, answers SIGQUIT with a report, and ends with the job. It has a segment of rma.DefaultSegment bytes as
// registered memory. Call Finalize at the end.
func Init() (*Runtime, error) {
	return Start(context.Background(), rank.Config{Processors: true, QuitDump: true, Exit: os.Exit},
		Config{Segment: rma.DefaultSegment})
}

// Abort ends the job, all its ranks, as rank.Rank.Abort does.
func (rt *Runtime) Abort(code int, err error) error { return rt.ev.OfRank.Abort(code, err) }

// withRuntime has cfg make a runtime for each rank.
func withRuntime(cfg *rank.Config, rc Config, made func(rt *Runtime)) {
	attach := cfg.Attach
	cfg.Attach = func(r *rank.Rank) error {
		rt, err := New(r, rc)
		if err != nil {
			return err
		}
		made(rt)
		if attach != nil {
			return attach(r)
		}
		return nil
	}
	if cfg.Caller == "" {
		cfg.Caller = "realm"
	}
}

// Run starts n ranks in this process and calls f for each, on a goroutine. When f has returned on all of them and all
// is quiet, the job ends. It is for tests, examples and the race detector. The error joins those of the ranks.
func Run(n int, f func(rt *Runtime) error, cfg ...Config) error {
	return RunWith(n, rank.Config{}, f, cfg...)
}

// RunWith is Run with a configuration of the ranks.
func RunWith(n int, cfg rank.Config, f func(rt *Runtime) error, rc ...Config) error {
	var c Config
	if len(rc) > 0 {
		c = rc[0]
	}
	rts := make([]*Runtime, max(0, n))
	withRuntime(&cfg, c, func(rt *Runtime) { rts[rt.ev.Self] = rt })
	t, err := rank.Local(n, cfg)
	if err != nil {
		return err
	}
	return t.Run(func(r *rank.Rank) error {
		rt := rts[r.Rank()]
		if err := rt.Begin(); err != nil {
			return err
		}
		return f(rt)
	})
}

// Finalize ends the rank, and with it the runtime, as rank.Rank.Finalize does. Every rank calls it. It waits until no
// task is ready or runs on any rank, and no message is under way. What still waits for an event then never ends:
// ErrPending names an example.
func (rt *Runtime) Finalize(ctx context.Context) error { return rt.ev.OfRank.Finalize(ctx) }

// OfRank is the rank that the runtime works on.
func (rt *Runtime) OfRank() *rank.Rank { return rt.ev.OfRank }

// registryCheck compares what ranks have registered, along a tree: each rank tells its parent.
type registryCheck struct {
	mu       sync.Mutex // guards what follows
	received int
	wrong    error
}

// Begin compares what has been registered with other ranks, and starts the workers. Every rank calls it once after the
// start; Start and Run do. It blocks. Errors: ErrRegistered, naming two ranks and what differs: a task, or a reduction
// or operator with that word before its name.
func (rt *Runtime) Begin() error {
	rt.setBrisk()
	if rt.ev.Size > 1 { // the first thread starts the workers, which poll while the program does something else
		if _, err := rt.sched.Go(func(*fult.Thread) {}); err != nil {
			return err
		}
	}
	_, parent, children := rt.relations()
	g := &rt.greeting
	err := rt.ev.OfRank.BlockUntil(func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.received == len(children) || g.wrong != nil || rt.ev.Endpoint.AnyGone()
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		err = g.wrong
	}
	if err != nil || rt.ev.Self == 0 {
		return err
	}
	ep := rt.ev.Endpoint
	return ep.RequestMedium(parent, events.HGreet, rt.catalog.summary(ep.MaxMedium()), rt.catalog.digest)
}

// summary has the name of each definition and the digest of its layout, as far as there is room.
func (c *catalog) summary(room int) []byte {
	var b []byte
	for _, d := range c.defs {
		one := binary.LittleEndian.AppendUint64(appendText(nil, d.name), d.digest())
		if len(b)+len(one) > room {
			break
		}
		b = append(b, one...)
	}
	return b
}

// digest is that of the layout.
func (d *registration) digest() uint64 {
	h := fnv.New64a()
	h.Write([]byte(d.layout))
	return h.Sum64()
}

// onGreet: a child tells what it has registered.
func (rt *Runtime) onGreet(t *am.Token, args []uint64, payload []byte) {
	g := &rt.greeting
	g.mu.Lock()
	defer g.mu.Unlock()
	g.received++
	if args[0] != rt.catalog.digest && g.wrong == nil {
		g.wrong = rt.ev.CallErrorf("Begin", "%w: %s", ErrRegistered, rt.catalog.difference(rt.ev.Self, t.Source(), payload))
	}
}

// difference names the first registration by name in which the summary of another rank differs from c, which is that of
// rank here.
func (c *catalog) difference(here, there int, summary []byte) string {
	r := wire{b: summary}
	for _, d := range c.defs {
		if len(r.b) == 0 {
			return fmt.Sprintf("rank %d has registered %q, rank %d has not, or has more than it can tell", here, d.name, there)
		}
		name, digest := string(r.nextBytes(r.readCount(uint64(len(r.b))))), r.u64()
		switch {
		case r.bad:
			return fmt.Sprintf("rank %d has sent a malformed summary", there)
		case name < d.name:
			return fmt.Sprintf("rank %d has registered %q, rank %d has not", there, name, here)
		case name > d.name:
			return fmt.Sprintf("rank %d has registered %q, rank %d has not", here, d.name, there)
		case digest != d.digest():
			return fmt.Sprintf("%q has another layout on rank %d than on rank %d, where it is %s", name, there, here, d.layout)
		}
	}
	if name := r.nextBytes(r.readCount(uint64(len(r.b)))); !r.bad {
		return fmt.Sprintf("rank %d has registered %q, rank %d has not", there, name, here)
	}
	return fmt.Sprintf("rank %d has more than it can tell, or other ranks differ", there)
}
