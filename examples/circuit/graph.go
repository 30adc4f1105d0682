package main

import (
	"math/rand/v2"
	"slices"
)

// wire leads from a node to another one. Both are numbers of nodes.
type wire struct {
	in, out                int64
	resistance, inductance float64
}

// graph is the whole circuit. Its nodes are cut into pieces of the same size. A wire belongs to the piece of its first
// node. Every rank draws the graph from the same seed, so no rank has to be told of it.
type graph struct {
	pieces, each int       // each is the number of nodes of a piece
	capacity     []float64 // of each node
	voltage      []float64 // of each node, before the first step
	wires        [][]wire  // of each piece, those to a lower piece first; but those that stay inside come before all
}

// draw makes a graph out of a seed. A wire leaves its piece with a chance of leave per cent, and ends in the piece
// before or behind it. The last piece is before the first.
func draw(pieces, nodes, wires, leave int, seed uint64) *graph {
	g := &graph{pieces: pieces, each: nodes, wires: make([][]wire, pieces)}
	for p := range pieces {
		r := rand.New(rand.NewPCG(seed, uint64(p)))
		for range nodes {
			g.capacity = append(g.capacity, 1+r.Float64())
			g.voltage = append(g.voltage, r.Float64())
		}
		for range wires {
			g.wires[p] = append(g.wires[p], g.drawWire(p, leave, r))
		}
		slices.SortStableFunc(g.wires[p], func(a, b wire) int { return g.rankOf(a, p) - g.rankOf(b, p) })
	}
	return g
}

func (g *graph) drawWire(p, leave int, r *rand.Rand) wire {
	to := p
	if g.pieces > 1 && r.IntN(100) < leave {
		to = (p + 1) % g.pieces
		if r.IntN(2) == 0 {
			to = (p + g.pieces - 1) % g.pieces
		}
	}
	node := func(piece int) int64 { return int64(piece*g.each + r.IntN(g.each)) }
	return wire{in: node(p), out: node(to), resistance: 1 + r.Float64(), inductance: 0.1 + 0.1*r.Float64()}
}

// pieceOf is the piece that a node belongs to.
func (g *graph) pieceOf(node int64) int { return int(node) / g.each }

// rankOf is the place of a wire of piece p in the order of its wires: by the piece it leads to, p before all.
func (g *graph) rankOf(w wire, p int) int {
	if to := g.pieceOf(w.out); to != p {
		return 1 + to
	}
	return 0
}

// bundle is the wires of a piece that lead to another one.
type bundle struct {
	from, to    int     // pieces
	first, last int     // of the wires of from; last is not one of them
	ends        []int64 // the node where each of them ends
	nodes       []int64 // each of those once, in order
}

// bundles are the wires that leave piece p, by the piece they lead to.
func (g *graph) bundles(p int) (all []bundle) {
	for i, w := range g.wires[p] {
		to := g.pieceOf(w.out)
		if to == p {
			continue
		}
		if n := len(all); n == 0 || all[n-1].to != to {
			all = append(all, bundle{from: p, to: to, first: i})
		}
		b := &all[len(all)-1]
		b.last = i + 1
		b.ends = append(b.ends, w.out)
	}
	for i := range all {
		all[i].nodes = slices.Compact(slices.Sorted(slices.Values(all[i].ends)))
	}
	return all
}

// ghosts are the nodes at the ends of bundles, in order.
func ghosts(all []bundle) (nodes []int64) {
	for _, b := range all {
		nodes = append(nodes, b.nodes...) // the pieces are in order, and so are their nodes
	}
	return nodes
}

// localize is the wires of piece p with numbers of nodes as the piece counts them: its own from 0, then its ghosts.
func (g *graph) localize(p int) []wire {
	place := make(map[int64]int64)
	for i, node := range ghosts(g.bundles(p)) {
		place[node] = int64(g.each + i)
	}
	wires := slices.Clone(g.wires[p])
	for i := range wires {
		w := &wires[i]
		w.in -= int64(p * g.each)
		if n, ghost := place[w.out]; ghost {
			w.out = n
		} else {
			w.out -= int64(p * g.each)
		}
	}
	return wires
}

// begin is the voltage of a node before the first step. Its charge is in fixed point, so it is not what was drawn.
func (g *graph) begin(node int64) float64 {
	volts, one := []float64{0}, g.capacity[node:][:1]
	q := []int64{0}
	load(q, g.voltage[node:][:1], one)
	update(volts, q, []int64{0}, one)
	return volts[0]
}
