package coll

import (
	"math/bits"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/transport/selection"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// partMethods is how a rank takes long parts, by their length. Rank 0 measures. What one rank's method costs depends on
// those of the others, so each takes the method that rank 0 had in the call before. The call that runs owns it.
type partMethods [partClasses]partClass

// partClass is the parts from one power of two of algorithm.ShmGets to the next, the last class all that are longer.
type partClass struct {
	picker selection.Picker // of rank 0, which picks among the two ways
	gets   bool             // of the others: how rank 0 took its parts
}

const partClasses = 6

// The methods of a part, as picker has them.
const (
	partChunks = iota
	partGets
	partMethodCount
)

func (x *Call) partMethods() *partMethods {
	at := &x.st.shared.parts
	if *at == nil {
		*at = new(partMethods)
		for i := range *at {
			(*at)[i].picker = selection.New(partMethodCount)
		}
	}
	return *at
}

// classOf is the class of parts of n bytes.
func (w *partMethods) classOf(n int) *partClass {
	return &w[min(max(bits.Len(uint(n-1)/algorithm.ShmGets), 0), partClasses-1)]
}

// pickChunks tells whether this rank takes chunks of parts of n bytes, rather than getting them.
func (w *partMethods) pickChunks(x *Call, n int) bool {
	c := w.classOf(n)
	switch fixed := x.st.Server.FixedScheme(); {
	case fixed != comm.Auto:
		return fixed == comm.Stream
	case x.rank != 0:
		return !c.gets
	}
	return c.picker.Pick() == partChunks
}

// noteCost learns from a call that has taken so many ticks.
func (w *partMethods) noteCost(x *Call, p *parts, ticks uint64, err error) {
	c, way := w.classOf(p.n), partGets
	if p.chunked[x.rank] {
		way = partChunks
	}
	switch {
	case err != nil:
		c.picker.Lose(way)
	case x.rank == 0:
		c.picker.Note(way, float64(ticks)/float64(p.n))
	default:
		c.gets = !p.chunked[0]
	}
}
