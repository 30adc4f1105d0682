//go:build linux

package main

/*
#include "topo.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/topo"
)

// giveList sets at most room numbers of the program.
func giveList(to *C.int, room C.int, list []int) {
	all := unsafe.Slice(to, int(room))
	for i, v := range list[:min(len(list), int(room))] {
		all[i] = C.int(v)
	}
}

// flags are n truth values of the program.
func flags(list *C.int, n C.int) []bool {
	all := make([]bool, n)
	for i, v := range unsafe.Slice(list, int(n)) {
		all[i] = v != 0
	}
	return all
}

// flagInts are truth values as C has them.
func flagInts(list []bool) []int {
	all := make([]int, len(list))
	for i, v := range list {
		if v {
			all[i] = 1
		}
	}
	return all
}

//export golciDims
func golciDims(nodes, n C.int, dims *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	all := rankList(dims, n)
	err := topo.DimsCreate(int(nodes), all)
	if err == nil {
		giveList(dims, n, all)
	}
	return classOf(err)
}

//export golciTopoTest
func golciTopoTest(comm C.int, status *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	switch t := at(comm).Topology(); {
	case t.Cart != nil:
		*status = C.MPI_CART
	case t.Graph != nil:
		*status = C.MPI_GRAPH
	case t.Dist != nil:
		*status = C.MPI_DIST_GRAPH
	default:
		*status = C.MPI_UNDEFINED
	}
	return C.MPI_SUCCESS
}

//export golciCartCreate
func golciCartCreate(comm, n C.int, dims, periods *C.int, reorder C.int, made *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := topo.NewCart(rankList(dims, n), flags(periods, n))
	if err != nil {
		return classOf(err)
	}
	d, err := at(comm).CreateCart(cart, reorder != 0)
	return put(d, err, made)
}

// cartOf is the grid of a communicator.
func cartOf(comm C.int) (*topo.Cart, error) {
	if t := at(comm).Topology(); t.Cart != nil {
		return t.Cart, nil
	}
	return nil, fmt.Errorf("%w: the communicator has no grid", errs.Topology)
}

//export golciCartSub
func golciCartSub(comm C.int, remain *C.int, made *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := cartOf(comm)
	if err != nil {
		return classOf(err)
	}
	dims, _ := cart.Dims()
	if remain == nil && len(dims) > 0 {
		return classOf(fmt.Errorf("%w: NULL", sentinel.ErrArgument))
	}
	d, err := at(comm).SubCart(flags(remain, C.int(len(dims))))
	return put(d, err, made)
}

//export golciCartMap
func golciCartMap(comm, n C.int, dims, periods, rank *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := topo.NewCart(rankList(dims, n), flags(periods, n))
	if err == nil {
		err = cart.Fits(at(comm).Size())
	}
	if err == nil {
		mapped(comm, cart.Size(), rank)
	}
	return classOf(err)
}

// mapped is the rank's place among the first n of a communicator.
func mapped(comm C.int, n int, rank *C.int) {
	*rank = C.int(at(comm).Rank())
	if int(*rank) >= n {
		*rank = C.MPI_UNDEFINED
	}
}

//export golciCartDim
func golciCartDim(comm C.int, n *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := cartOf(comm)
	if err == nil {
		dims, _ := cart.Dims()
		*n = C.int(len(dims))
	}
	return classOf(err)
}

//export golciCartGet
func golciCartGet(comm, room C.int, dims, periods, coords *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := cartOf(comm)
	if err != nil {
		return classOf(err)
	}
	d, p := cart.Dims()
	at, err := cart.Coords(at(comm).Rank())
	giveList(dims, room, d)
	giveList(periods, room, flagInts(p))
	giveList(coords, room, at)
	return classOf(err)
}

//export golciCartCoords
func golciCartCoords(comm, rank, room C.int, coords *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := cartOf(comm)
	if err != nil {
		return classOf(err)
	}
	at, err := cart.Coords(int(rank))
	giveList(coords, room, at)
	return classOf(err)
}

//export golciCartRank
func golciCartRank(comm C.int, coords, rank *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := cartOf(comm)
	if err != nil {
		return classOf(err)
	}
	dims, _ := cart.Dims()
	if coords == nil && len(dims) > 0 {
		return classOf(fmt.Errorf("%w: NULL", sentinel.ErrArgument))
	}
	r, err := cart.Rank(rankList(coords, C.int(len(dims))))
	if err == nil {
		*rank = C.int(r)
	}
	return classOf(err)
}

//export golciCartShift
func golciCartShift(comm, direction, disp C.int, source, dest *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	cart, err := cartOf(comm)
	if err != nil {
		return classOf(err)
	}
	from, to, err := cart.Shift(at(comm).Rank(), int(direction), int(disp))
	if err == nil {
		*source, *dest = C.int(from), C.int(to)
	}
	return classOf(err)
}

// newGraph is a graph of n nodes of the program.
func newGraph(n C.int, index, edges *C.int) (*topo.Graph, error) {
	list := rankList(index, n)
	last := 0
	if n > 0 {
		last = list[n-1]
	}
	if last < 0 || last > 0 && edges == nil {
		return nil, fmt.Errorf("%w: a graph of %d edges", sentinel.ErrArgument, last)
	}
	return topo.NewGraph(list, rankList(edges, C.int(last)))
}

//export golciGraphCreate
func golciGraphCreate(comm, n C.int, index, edges *C.int, reorder C.int, made *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	graph, err := newGraph(n, index, edges)
	if err != nil {
		return classOf(err)
	}
	d, err := at(comm).CreateGraph(graph, reorder != 0)
	return put(d, err, made)
}

//export golciGraphMap
func golciGraphMap(comm, n C.int, index, edges, rank *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	graph, err := newGraph(n, index, edges)
	if err == nil {
		err = graph.Fits(at(comm).Size())
	}
	if err == nil {
		mapped(comm, graph.Size(), rank)
	}
	return classOf(err)
}

// graphOf is the graph of a communicator.
func graphOf(comm C.int) (*topo.Graph, error) {
	if t := at(comm).Topology(); t.Graph != nil {
		return t.Graph, nil
	}
	return nil, fmt.Errorf("%w: the communicator has no graph", errs.Topology)
}

//export golciGraphDims
func golciGraphDims(comm C.int, nodes, edges *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	graph, err := graphOf(comm)
	if err == nil {
		i, e := graph.Lists()
		*nodes, *edges = C.int(len(i)), C.int(len(e))
	}
	return classOf(err)
}

//export golciGraphGet
func golciGraphGet(comm, roomIndex, roomEdges C.int, index, edges *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	graph, err := graphOf(comm)
	if err == nil {
		i, e := graph.Lists()
		giveList(index, roomIndex, i)
		giveList(edges, roomEdges, e)
	}
	return classOf(err)
}

//export golciGraphNeighbors
func golciGraphNeighbors(comm, rank, room C.int, list, n *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	graph, err := graphOf(comm)
	if err != nil {
		return classOf(err)
	}
	all, err := graph.Neighbors(int(rank))
	giveList(list, room, all)
	*n = C.int(len(all))
	return classOf(err)
}

// given are weights of n edges; nil where there are none.
func given(weights *C.int, n C.int, weighted bool) []int {
	if !weighted || weights == nil && n > 0 {
		return nil
	}
	return append([]int{}, rankList(weights, n)...)
}

//export golciDistCreate
func golciDistCreate(
	comm, n C.int, sources, degrees, dests, weights *C.int, weighted C.int, made *C.struct_newcomm,
) (class C.int) {
	defer recovered(&class)
	begun()
	all := rankList(degrees, n)
	sum := 0
	for _, d := range all {
		if d < 0 {
			return classOf(fmt.Errorf("%w: degree %d", sentinel.ErrArgument, d))
		}
		sum += d
	}
	if sum > 0 && (dests == nil || weighted != 0 && weights == nil) {
		return classOf(fmt.Errorf("%w: NULL", sentinel.ErrArgument))
	}
	c := at(comm)
	edges, err := topo.Declare(c.Size(), rankList(sources, n), all, rankList(dests, C.int(sum)),
		given(weights, C.int(sum), weighted != 0))
	if err != nil {
		return classOf(err)
	}
	d, err := c.CreateDist(edges, weighted != 0)
	return put(d, err, made)
}

//export golciDistAdjacent
func golciDistAdjacent(
	comm, in C.int, sources, inWeights *C.int, out C.int, dests, outWeights *C.int, weighted C.int,
	made *C.struct_newcomm,
) (class C.int) {
	defer recovered(&class)
	begun()
	w, c := weighted != 0, at(comm)
	if w && (in > 0 && inWeights == nil || out > 0 && outWeights == nil) {
		return classOf(fmt.Errorf("%w: no weights", sentinel.ErrArgument))
	}
	dist, err := topo.Adjacent(c.Size(), rankList(sources, in), given(inWeights, in, w), rankList(dests, out),
		given(outWeights, out, w))
	if err != nil {
		return classOf(err)
	}
	d, err := c.CreateAdjacent(dist)
	return put(d, err, made)
}

// distOf is what the rank knows of the distributed graph of a communicator.
func distOf(comm C.int) (*topo.Dist, error) {
	if t := at(comm).Topology(); t.Dist != nil {
		return t.Dist, nil
	}
	return nil, fmt.Errorf("%w: the communicator has no distributed graph", errs.Topology)
}

//export golciDistCount
func golciDistCount(comm C.int, in, out, weighted *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	dist, err := distOf(comm)
	if err == nil {
		*in, *out, *weighted = C.int(len(dist.In)), C.int(len(dist.Out)), 0
		if dist.Weighted {
			*weighted = 1
		}
	}
	return classOf(err)
}

//export golciDistNeighbors
func golciDistNeighbors(
	comm, roomIn C.int, sources, inWeights *C.int, roomOut C.int, dests, outWeights *C.int,
) (class C.int) {
	defer recovered(&class)
	begun()
	dist, err := distOf(comm)
	if err == nil {
		giveNeighbors(sources, inWeights, roomIn, dist.In, dist.Weighted)
		giveNeighbors(dests, outWeights, roomOut, dist.Out, dist.Weighted)
	}
	return classOf(err)
}

func giveNeighbors(ranks, weights *C.int, room C.int, list []topo.Neighbor, weighted bool) {
	r, w := make([]int, len(list)), make([]int, len(list))
	for i, n := range list {
		r[i], w[i] = n.Rank, n.Weight
	}
	giveList(ranks, room, r)
	if weighted && weights != nil {
		giveList(weights, room, w)
	}
}
