// Package pending is the registry of what a rank waits for: each operation, of whatever kind, from its start to its
// end. An abort, the death of a peer, a revocation, Finalize and a dump all walk through it, and know no kinds.
//
// Most operations are kept where their layer finds them anyway, such as in a matching table. Such a place is a Source
// of the registry, so that an operation costs nothing more. All others are in Calls.
package pending

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/fult"
)

// Kind says what pends. Those of this rank's own operations come before Message.
type Kind uint8

// The kinds.
const (
	Recv     Kind = iota // a receive without a message
	Move                 // a receive whose message is on its way
	Send                 // a send that its receiver has not taken
	Probe                // a wait for a message that is not received
	Call                 // an operation of a layer above matching
	Message              // a message of another rank without a receive
	Envelope             // the envelope of such a message; its bytes are at the sender
)

// AnyRank and AnyTag stand for what an operation does not name.
const (
	AnyRank = -1
	AnyTag  = -1
)

// NoContext is the Context of an operation that no revocation concerns.
const NoContext = ^uint16(0)

// Op describes one operation or message that pends.
type Op struct {
	Kind    Kind
	Call    string // the function that the program has called; empty where form, kind and context tell
	Form    uint8  // of a send or a receive: which of the calls has started it, see comm.Form
	Sync    bool   // a synchronous send
	Context uint16 // of its messages, or NoContext
	On      string // the communicator of an operation without a context; may be empty
	Peer    int    // a rank of the job, or AnyRank
	Tag     int    // or AnyTag
	Bytes   int64
	Thread  *fult.Thread        // whose blocking call it is; nil for others
	Needs   func(rank int) bool // tells whether the death of a rank ends it; nil: that of Peer does
	Parts   bool                // what it is made of is in the registry, too, and tells more
	Layer   string              // that counts and reports it by itself; empty: the layer of messages and contexts does
}

// Unexpected says that o is a message of another rank, and no operation of this one.
func (o *Op) Unexpected() bool { return o.Kind >= Message }

// NeedsRank reports whether o cannot go on without a rank.
func (o *Op) NeedsRank(rank int) bool {
	if o.Needs != nil {
		return o.Needs(rank)
	}
	return o.Peer == rank
}

// Nobody is the Needs of an operation that no death ends.
func Nobody(int) bool { return false }

// Source is a place where operations of a rank are.
type Source interface {
	// Each shows what pends, as far as it can be seen without stopping anybody. show may keep nothing of its argument,
	// and must neither wait nor use the source: it may run under a spin lock.
	Each(show func(*Op))
	// EndWhere ends each operation for which why gives an error, with that error, or has it end soon. An operation that
	// is being ended by somebody else is left alone. It does not block. w is the worker that calls, or nil.
	EndWhere(why func(*Op) error, w *fult.Worker)
}

// Registry is that of one rank. The zero value is empty. Any goroutine may call its methods.
type Registry struct {
	Calls Calls

	attaching sync.Mutex
	sources   atomic.Pointer[[]Source] // replaced under attaching
}

// Attach adds a source. It stays.
func (r *Registry) Attach(s Source) {
	r.attaching.Lock()
	defer r.attaching.Unlock()
	all := append(slices.Clip(r.allSources()), s)
	r.sources.Store(&all)
}

func (r *Registry) allSources() []Source {
	if all := r.sources.Load(); all != nil {
		return *all
	}
	return nil
}

// Each shows all that pends.
func (r *Registry) Each(show func(*Op)) {
	for _, s := range r.allSources() {
		s.Each(show)
	}
	r.Calls.Each(show)
}

// Ops lists all that pends.
func (r *Registry) Ops() (all []Op) {
	r.Each(func(o *Op) { all = append(all, *o) })
	return all
}

// EndWhere ends all for which why gives an error. Sources come before calls, which are made of their operations.
func (r *Registry) EndWhere(why func(*Op) error, w *fult.Worker) {
	for _, s := range r.allSources() {
		s.EndWhere(why, w)
	}
	r.Calls.EndWhere(why, w)
}
