package mpitest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// disagree makes one rank take all lengths of a collective for longer ones than the others do. Some rank gets an error,
// and no memory has bytes of any other call or buffer.
func (a *actor) disagree(s site, g *group, r *rand.Rand) error {
	c, err := g.c.Dup()
	if err != nil {
		return s.wrong("Dup", err)
	}
	h := *g
	h.c = c
	if r.IntN(2) == 0 {
		if err := warm(c); err != nil {
			return s.wrong("Barrier", err)
		}
	}
	before := drawSpreads(s, &h, r, lengths{tone: tone}).call()
	before.fresh()
	if err := before.wait(); err != nil {
		return s.wrong(before.name, err)
	}
	if err := before.check(); err != nil {
		return err
	}
	x := drawSpreads(s, &h, r, a.oddLengths(g, r))
	failed, err := x.fails(r.IntN(2) == 0)
	if err != nil {
		return s.wrong(x.String(), err)
	}
	if err := a.someFailed(s, g, x, failed); err != nil {
		return err
	}
	return s.wrong("Free", c.Free())
}

// oddLengths draws the rank that takes lengths for longer, and by how much.
func (a *actor) oddLengths(g *group, r *rand.Rand) lengths {
	some, others := g.sides()
	if g.inter() {
		some = append(some[:len(some):len(some)], others...)
	}
	odd, more := some[r.IntN(len(some))], 1+r.IntN(4)
	if r.IntN(2) == 0 {
		more += 1 << r.IntN(13)
	}
	if a.me != odd {
		more = 0
	}
	return lengths{tone: otherTone, more: more}
}

// fails carries out a collective whose ranks disagree, and looks at all memory. It tells whether the rank gets an
// error. Where it gets none, what it has must be what the model says.
func (x *spreads) fails(waits bool) (failed bool, err error) {
	k := x.call()
	k.fresh()
	if waits {
		err = k.wait()
	} else {
		var q mpi.Request
		if q, err = k.start(); err == nil {
			_, err = q.Wait()
		}
	}
	if err == nil && x.more == 0 {
		digest := x.s.a.digest // which ranks get an error depends on time
		if err := k.check(); err != nil {
			return false, fmt.Errorf("the call has no error: %w", err)
		}
		x.s.a.digest = digest
	}
	for i, f := range []*frame{x.send, x.recv} {
		if f == nil {
			continue
		}
		if e := f.whole(); e != nil {
			return false, fmt.Errorf("%s: %w; the call: %w", []string{"send buffer", "receive buffer"}[i], e, err)
		}
	}
	return err != nil, nil
}

// someFailed checks that some rank has found that the lengths differ, where all of them matter to some rank.
func (a *actor) someFailed(s site, g *group, x *spreads, failed bool) error {
	var mine, any [1]int32
	if failed {
		mine[0] = 1
	}
	if err := mpi.Allreduce(g.c, mine[:], any[:], mpi.Max); err != nil {
		return s.wrong("Allreduce", err)
	}
	if any[0] != 0 || g.inter() || len(g.local) == 1 || x.k.Kind >= argument.KindNeighborAllgather {
		return nil
	}
	return s.wrong(x.String(), errors.New("lengths differ, and no rank has found it"))
}
