package reduce

import "math"

// Kind is a kind of instance.
type Kind uint8

// Kinds.
const (
	KindFold Kind = iota
	KindList
)

// String names the kind.
func (k Kind) String() string { return [...]string{"fold", "list"}[k&1] }

// Case describes reductions that an instance is to be chosen for.
type Case struct {
	Points     int64 // of the space
	Reductions int64 // that are expected
	LSize      int   // bytes of a datum
	RSize      int   // bytes of a value
	NoFold     bool  // the operator has no Fold or no Identity
	Reused     bool  // a Fold would be reset, not made
	Remote     bool  // the data are on another rank
}

// Costs in nanoseconds. BenchmarkChoose measures both kinds at several densities, and how often this is right.
const (
	perFold     = 4    // of a reduction into a Fold
	perPoint    = 16   // of a point that is reduced into: its mark, its first value, its application
	perPage     = 4000 // of a page of 8-byte values that is made
	perPageLog  = 300  // of the log of a page
	perLog      = 10   // of a reduction into a List, and its application
	missingFold = 14   // more of a reduction into a Fold that is larger than a cache
	missingData = 8    // more of an application to data that are larger than a cache
	perByte     = 0.3  // that is encoded, sent and decoded
	perWord     = 1    // of each 8 bytes beyond the first of datum and value

	cacheBytes = 4 << 20
)

// Choose is the kind of instance that is expected to take less time, if reductions are spread evenly over the points.
func (c Case) Choose() Kind {
	if c.NoFold || c.Points <= 0 {
		return KindList
	}
	if c.fold() <= c.listCost() {
		return KindFold
	}
	return KindList
}

// words is the extra time for large elements.
func (c Case) words() float64 { return perWord * max(0, float64(c.LSize+c.RSize-16)/8) }

func (c Case) fold() float64 {
	n, m := float64(c.Points), float64(c.Reductions)
	touched := n * -math.Expm1(-m/n)
	cost := m*perFold + touched*(perPoint+c.words())
	if !c.Reused {
		pages := math.Ceil(n / pageLen)
		if m > pages*logLen {
			cost += pages * perPage * max(1, float64(c.RSize)/8)
		} else {
			cost += pages * -math.Expm1(-m/pages) * perPageLog
		}
	}
	if n*float64(c.RSize) > cacheBytes {
		cost += m * missingFold
	}
	if c.Remote {
		cost += touched * float64(c.RSize) * perByte
	}
	return cost
}

func (c Case) listCost() float64 {
	cost := float64(c.Reductions) * (perLog + c.words())
	if float64(c.Points)*float64(c.LSize) > cacheBytes {
		cost += float64(c.Reductions) * missingData
	}
	if c.Remote {
		cost += float64(c.Reductions) * float64(c.RSize+4) * perByte
	}
	return cost
}
