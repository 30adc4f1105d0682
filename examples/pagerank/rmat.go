package main

import "math/rand/v2"

// rmat is a random graph with few vertices of many edges and many of few (Chakrabarti, Zhan, Faloutsos: R-MAT, 2004),
// with the parameters of Graph500. It depends on these fields only, not on who makes which part.
type rmat struct {
	scale int // ids below 1<<scale
	edges int
	seed  uint64
}

// chunkEdges is how many edges come from one stream of random numbers.
const chunkEdges = 1 << 12

func (g rmat) share(part, parts int) ([]edge, error) {
	chunks := (int64(g.edges) + chunkEdges - 1) / chunkEdges
	begin, end := cut(chunks, part, parts), cut(chunks, part+1, parts)
	var edges []edge
	for k := begin; k < end; k++ {
		random := rand.New(rand.NewPCG(g.seed, uint64(k)))
		for range min(chunkEdges, int64(g.edges)-k*chunkEdges) {
			edges = append(edges, g.edge(random))
		}
	}
	return edges, nil
}

// edge descends into a quarter of the adjacency matrix scale times.
func (g rmat) edge(random *rand.Rand) edge {
	const a, b, c = 0.57, 0.19, 0.19
	var e edge
	for range g.scale {
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
	return edge{From: g.scramble(e.From), To: g.scramble(e.To)}
}

// scramble is a bijection of the ids. Without it one rank would get all vertices of many edges.
func (g rmat) scramble(id uint64) uint64 {
	mask := uint64(1)<<g.scale - 1
	shift := g.scale/2 + 1
	for range 2 {
		id = (id*0x9e3779b97f4a7c15 + g.seed) & mask
		id ^= id >> shift
	}
	return id
}
