package main

import (
	"cmp"
	"flag"
	"fmt"
	"strconv"

	"github.com/golci/golci/examples/internal/graph"
	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

type options struct {
	rule
	path       string // of an edge list; empty for a random graph
	undirected bool
	blocks     int // of each rank
	random     graph.RMAT
	check      *bool // nil: for small graphs
}

// smallGraph is the number of edges up to which the result is checked unless a flag says otherwise.
const smallGraph = 1 << 22

// checks says whether to check the result for a graph of so many edges.
func (o options) checks(edges int) bool {
	if o.check != nil {
		return *o.check
	}
	return edges <= smallGraph
}

const about = "pagerank [flags] [FILE]: the ten best vertices of a graph; FILE has two ids a line, '#' for comments"

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("pagerank", flag.ContinueOnError)
	f.Float64Var(&o.damping, "damping", 0.85, "probability to follow an edge")
	f.Float64Var(&o.tolerance, "tolerance", 1e-12, "end when the scores change by less than this in all")
	f.IntVar(&o.iterations, "iterations", 500, "end after so many iterations in any case")
	f.BoolVar(&o.undirected, "undirected", false, "edges lead both ways")
	f.IntVar(&o.blocks, "blocks", 16, "blocks of vertices of each rank, one thread each")
	f.IntVar(&o.random.Scale, "scale", 17, "without a file: a random graph with 2^scale ids")
	f.IntVar(&o.random.Edges, "edges", 0, "without a file: edges of the random graph; 0 for 16 an id")
	f.Uint64Var(&o.random.Seed, "seed", 1, "without a file: another random graph")
	f.BoolFunc("check", "compare with a serial run; without the flag, for small graphs", func(s string) error {
		on, err := strconv.ParseBool(s)
		o.check = &on
		return err
	})
	if err := rank.Parse(f, about, args, 1); err != nil {
		return o, err
	}
	o.path = f.Arg(0)
	if err := o.valid(); err != nil {
		return o, err
	}
	if o.random.Edges == 0 {
		o.random.Edges = 16 << o.random.Scale
	}
	return o, nil
}

func (o options) valid() error {
	switch {
	case !(o.damping >= 0 && o.damping < 1):
		return fmt.Errorf("-damping %v: want 0 or more and less than 1", o.damping)
	case !(o.tolerance > 0 && o.tolerance < 1):
		return fmt.Errorf("-tolerance %v: want more than 0 and less than 1", o.tolerance)
	case o.random.Scale > 31:
		return fmt.Errorf("-scale %d: want at most 31", o.random.Scale)
	case o.blocks > mpi.TagUB:
		return fmt.Errorf("-blocks %d: want at most %d", o.blocks, mpi.TagUB)
	}
	return cmp.Or(
		rank.AtLeast("blocks", o.blocks, 1), rank.AtLeast("iterations", o.iterations, 0),
		rank.AtLeast("scale", o.random.Scale, 1), rank.AtLeast("edges", o.random.Edges, 0),
	)
}

func (o options) input() input {
	var in input = o.random
	if o.path != "" {
		in = edgeFile{path: o.path}
	}
	if o.undirected {
		in = mirrored{in}
	}
	return in
}
