package core

import (
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/mpi/internal/arena"
)

// Arena is the rank's own.
func (p *Proc) Arena() *arena.Arena { return &p.arena }

// remote is the conduit as one that reaches memory of other ranks; nil if it is none.
func (p *Proc) remote() conduit.Remote {
	r, _ := p.rank.Endpoint().Conduit().(conduit.Remote)
	return r
}

// growArena has the arena grow by memory of the conduit.
func (p *Proc) growArena() {
	if r := p.remote(); r != nil {
		p.arena.Init(r.Allocate)
		return
	}
	p.arena.Init(conduit.Allocate)
}
