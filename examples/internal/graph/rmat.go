package graph

import "math/rand/v2"

// RMAT is a random graph with few vertices of many edges and many of few (Chakrabarti, Zhan, Faloutsos: R-MAT, 2004),
// with the parameters of Graph500. It depends on these fields only, not on who makes which part.
type RMAT struct {
	Scale int // ids below 1<<Scale
	Edges int
	Seed  uint64
}

// chunkEdges is how many edges come from one stream of random numbers.
const chunkEdges = 1 << 12

// Share makes one of parts parts of the edges.
func (g RMAT) Share(part, parts int) ([]Edge, error) {
	chunks := (int64(g.Edges) + chunkEdges - 1) / chunkEdges
	begin, end := Cut(chunks, part, parts), Cut(chunks, part+1, parts)
	var edges []Edge
	for k := begin; k < end; k++ {
		random := rand.New(rand.NewPCG(g.Seed, uint64(k)))
		for range min(chunkEdges, int64(g.Edges)-k*chunkEdges) {
			edges = append(edges, g.edge(random))
		}
	}
	return edges, nil
}

// edge descends into a quarter of the adjacency matrix scale times.
func (g RMAT) edge(random *rand.Rand) Edge {
	const a, b, c = 0.57, 0.19, 0.19
	var e Edge
	for range g.Scale {
		e.From, e.To = e.From<<1, e.To<<1
		switch x := random.Float64(); {
		case x < a:
		case x < a+b:
			e.To |= 1
		case x < a+b+c:
			e.From |= 1
		default:
			e.From |= 1
			e.To |= 1
		}
	}
	return Edge{From: g.scramble(e.From), To: g.scramble(e.To)}
}

// scramble is a bijection of the ids. Without it one rank would get all vertices of many edges.
func (g RMAT) scramble(id uint64) uint64 {
	mask := uint64(1)<<g.Scale - 1
	shift := g.Scale/2 + 1
	for range 2 {
		id = (id*0x9e3779b97f4a7c15 + g.Seed) & mask
		id ^= id >> shift
	}
	return id
}
