package core

import (
	"fmt"
	"sync"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Grequest is a generalized request (13.2): the program ends its operation. Its functions may be nil. Query gives the
// status when a wait, test or GetStatus finds the request done; Free is called once, when nobody can ask again; Cancel
// is told whether the operation has ended.
type Grequest struct {
	Query  func() (Status, error)
	Free   func() error
	Cancel func(complete bool) error
}

// generalizedOp is the operation of a generalized request.
type generalizedOp struct {
	Grequest
	c    *Comm
	call comm.Req

	mu sync.Mutex // guards what follows; no lock is taken under it, and no function of the program is called
	// Both only become true.
	complete bool
	freed    bool // before it is complete
}

// StartGeneral makes a generalized request.
func (p *Proc) StartGeneral(f Grequest) Request {
	op := pending.Op{
		Call: "Grequest", Context: pending.NoContext, Peer: pending.AnyRank, Tag: pending.AnyTag, Needs: pending.Nobody,
	}
	g := &generalizedOp{Grequest: f, c: p.self, call: p.srv.NewCall(op, pending.Terms{Kept: true})}
	return Request{c: p.self, req: g.call, x: &requestExt{composite: g}}
}

// Complete ends the operation of a generalized request, for the function what. It may be called of a copy of one that
// has been freed.
func (r *Request) Complete(what string) error {
	if r.Null() {
		return fmt.Errorf("mpi: %s: %w: null", what, sentinel.ErrRequest)
	}
	g, ok := r.ends().(*generalizedOp)
	if !ok {
		return r.c.commErrorf(what, ": %w: it is %v", sentinel.ErrRequest, r.opKind())
	}
	g.mu.Lock()
	again, freed := g.complete, g.freed
	g.complete = true
	g.mu.Unlock()
	switch {
	case again:
		return r.c.commErrorf(what, ": %w: it is complete already", sentinel.ErrRequest)
	case freed:
		return g.freeOp()
	}
	g.c.Srv.EndCall(g.call, nil, nil)
	return nil
}

func (g *generalizedOp) freeOp() error {
	if g.Free == nil {
		return nil
	}
	return g.Free()
}

func (g *generalizedOp) opKind() reqkind.Kind { return reqkind.Generalized }

func (g *generalizedOp) opOutcome(_ *Comm, last bool) (st Status, err error) {
	st = empty
	if g.Query != nil {
		st, err = g.Query()
	}
	if last {
		if other := g.freeOp(); err == nil {
			err = other
		}
	}
	return st, err
}

func (g *generalizedOp) isComplete() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.complete
}

func (g *generalizedOp) cancelOp(*Comm) error {
	if g.Cancel == nil {
		return nil
	}
	return g.Cancel(g.isComplete())
}

func (g *generalizedOp) forgetOp(*Comm) error {
	g.mu.Lock()
	complete := g.complete
	g.freed = true
	g.mu.Unlock()
	g.c.Srv.EndCall(g.call, nil, nil) // nobody waits for it any more
	if complete {
		return g.freeOp()
	}
	return nil
}
