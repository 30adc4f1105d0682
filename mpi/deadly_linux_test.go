package mpi

import (
	"errors"
	"slices"
	"strings"
)

// deadlyCall is a collective that needs all ranks: each rank brings a value that the others get, or waits for them.
// ready is called while all live, and gives what is called when one has died.
type deadlyCall struct {
	name  string
	ready func(c *Comm) (call func() error, err error)
}

// forms3 are the three forms of a collective: one that waits, one that does not, and a persistent one, which is made
// while all live.
func forms3(name string, wait func(c *Comm) error, start, initial func(c *Comm) (Request, error)) []deadlyCall {
	return []deadlyCall{
		{name, func(c *Comm) (func() error, error) { return func() error { return wait(c) }, nil }},
		{"I" + strings.ToLower(name[:1]) + name[1:], func(c *Comm) (func() error, error) {
			return func() error { return done(start(c)) }, nil
		}},
		{name + "Init", func(c *Comm) (func() error, error) {
			r, err := initial(c)
			return func() error {
				err := r.Start()
				if err == nil {
					err = done(r, nil)
				}
				return errors.Join(err, r.Free())
			}, err
		}},
	}
}

// deadly are all collectives. In a rooted one whose root only receives or only sends, root is such that others need it.
func deadly() []deadlyCall {
	return slices.Concat(deadlyOfAll(), deadlyRooted(), deadlyReductions(), deadlyNear())
}

// deadlyFits are lengths of parts of one element.
func deadlyFits(c *Comm) []int { return slices.Repeat([]int{1}, c.Size()) }

// deadlyParts are parts of one element of a slice.
func deadlyParts(c *Comm) []Part { return partsOfRanks(make([]int, c.Size()), c.Size()) }

func deadlyOfAll() []deadlyCall {
	room := func(c *Comm) []int { return make([]int, c.Size()) }
	return slices.Concat(
		forms3("Barrier", (*Comm).Barrier, (*Comm).Ibarrier, (*Comm).BarrierInit),
		forms3("Allgather", func(c *Comm) error { return Allgather(c, one(), room(c)) },
			func(c *Comm) (Request, error) { return Iallgather(c, one(), room(c)) },
			func(c *Comm) (Request, error) { return AllgatherInit(c, one(), room(c)) }),
		forms3("Allgatherv", func(c *Comm) error { return Allgatherv(c, one(), room(c), deadlyFits(c), nil) },
			func(c *Comm) (Request, error) { return Iallgatherv(c, one(), room(c), deadlyFits(c), nil) },
			func(c *Comm) (Request, error) { return AllgathervInit(c, one(), room(c), deadlyFits(c), nil) }),
		forms3("Alltoall", func(c *Comm) error { return Alltoall(c, room(c), room(c)) },
			func(c *Comm) (Request, error) { return Ialltoall(c, room(c), room(c)) },
			func(c *Comm) (Request, error) { return AlltoallInit(c, room(c), room(c)) }),
		[]deadlyCall{{"AlltoallOfLongParts", func(c *Comm) (func() error, error) { // which ranks get where they lie
			in, out := make([]int, c.Size()<<16), make([]int, c.Size()<<16)
			return func() error { return Alltoall(c, in, out) }, nil
		}}},
		forms3("Alltoallv", func(c *Comm) error {
			return Alltoallv(c, room(c), deadlyFits(c), nil, room(c), deadlyFits(c), nil)
		}, func(c *Comm) (Request, error) {
			return Ialltoallv(c, room(c), deadlyFits(c), nil, room(c), deadlyFits(c), nil)
		}, func(c *Comm) (Request, error) {
			return AlltoallvInit(c, room(c), deadlyFits(c), nil, room(c), deadlyFits(c), nil)
		}),
		forms3("Alltoallw", func(c *Comm) error { return Alltoallw(c, deadlyParts(c), deadlyParts(c)) },
			func(c *Comm) (Request, error) { return Ialltoallw(c, deadlyParts(c), deadlyParts(c)) },
			func(c *Comm) (Request, error) { return AlltoallwInit(c, deadlyParts(c), deadlyParts(c)) }),
	)
}

func deadlyRooted() []deadlyCall {
	room := func(c *Comm) []int { return make([]int, c.Size()) }
	return slices.Concat(
		forms3("Bcast", func(c *Comm) error { return Bcast(c, make([]int, 9000), victim) },
			func(c *Comm) (Request, error) { return Ibcast(c, make([]int, 9000), victim) },
			func(c *Comm) (Request, error) { return BcastInit(c, make([]int, 9000), victim) }),
		forms3("Gather", func(c *Comm) error { return Gather(c, one(), room(c), 0) },
			func(c *Comm) (Request, error) { return Igather(c, one(), room(c), 0) },
			func(c *Comm) (Request, error) { return GatherInit(c, one(), room(c), 0) }),
		forms3("Gatherv", func(c *Comm) error { return Gatherv(c, one(), room(c), deadlyFits(c), nil, 0) },
			func(c *Comm) (Request, error) { return Igatherv(c, one(), room(c), deadlyFits(c), nil, 0) },
			func(c *Comm) (Request, error) { return GathervInit(c, one(), room(c), deadlyFits(c), nil, 0) }),
		forms3("Scatter", func(c *Comm) error { return Scatter(c, room(c), one(), victim) },
			func(c *Comm) (Request, error) { return Iscatter(c, room(c), one(), victim) },
			func(c *Comm) (Request, error) { return ScatterInit(c, room(c), one(), victim) }),
		forms3("Scatterv", func(c *Comm) error { return Scatterv(c, room(c), deadlyFits(c), nil, one(), victim) },
			func(c *Comm) (Request, error) { return Iscatterv(c, room(c), deadlyFits(c), nil, one(), victim) },
			func(c *Comm) (Request, error) { return ScattervInit(c, room(c), deadlyFits(c), nil, one(), victim) }),
		forms3("Reduce", func(c *Comm) error { return Reduce(c, one(), one(), Sum, 0) },
			func(c *Comm) (Request, error) { return Ireduce(c, one(), one(), Sum, 0) },
			func(c *Comm) (Request, error) { return ReduceInit(c, one(), one(), Sum, 0) }),
	)
}

func deadlyReductions() []deadlyCall {
	room := func(c *Comm) []int { return make([]int, c.Size()) }
	return slices.Concat(
		forms3("Allreduce", func(c *Comm) error { return Allreduce(c, one(), one(), Sum) },
			func(c *Comm) (Request, error) { return Iallreduce(c, one(), one(), Sum) },
			func(c *Comm) (Request, error) { return AllreduceInit(c, one(), one(), Sum) }),
		forms3("ReduceScatterBlock", func(c *Comm) error { return ReduceScatterBlock(c, room(c), one(), Sum) },
			func(c *Comm) (Request, error) { return IreduceScatterBlock(c, room(c), one(), Sum) },
			func(c *Comm) (Request, error) { return ReduceScatterBlockInit(c, room(c), one(), Sum) }),
		forms3("ReduceScatter", func(c *Comm) error { return ReduceScatter(c, room(c), one(), deadlyFits(c), Sum) },
			func(c *Comm) (Request, error) { return IreduceScatter(c, room(c), one(), deadlyFits(c), Sum) },
			func(c *Comm) (Request, error) { return ReduceScatterInit(c, room(c), one(), deadlyFits(c), Sum) }),
		forms3("Scan", func(c *Comm) error { return Scan(c, one(), one(), Sum) },
			func(c *Comm) (Request, error) { return Iscan(c, one(), one(), Sum) },
			func(c *Comm) (Request, error) { return ScanInit(c, one(), one(), Sum) }),
		forms3("Exscan", func(c *Comm) error { return Exscan(c, one(), one(), Sum) },
			func(c *Comm) (Request, error) { return Iexscan(c, one(), one(), Sum) },
			func(c *Comm) (Request, error) { return ExscanInit(c, one(), one(), Sum) }),
	)
}

// deadlyNear are those of neighbours. The communicator is a ring then.
func deadlyNear() []deadlyCall {
	two, counts := func() []int { return make([]int, 2) }, []int{1, 1}
	parts := func() []Part { return partsOfRanks(make([]int, 2), 2) }
	return slices.Concat(
		forms3("NeighborAllgather", func(c *Comm) error { return NeighborAllgather(c, one(), two()) },
			func(c *Comm) (Request, error) { return IneighborAllgather(c, one(), two()) },
			func(c *Comm) (Request, error) { return NeighborAllgatherInit(c, one(), two()) }),
		forms3("NeighborAllgatherv", func(c *Comm) error { return NeighborAllgatherv(c, one(), two(), counts, nil) },
			func(c *Comm) (Request, error) { return IneighborAllgatherv(c, one(), two(), counts, nil) },
			func(c *Comm) (Request, error) { return NeighborAllgathervInit(c, one(), two(), counts, nil) }),
		forms3("NeighborAlltoall", func(c *Comm) error { return NeighborAlltoall(c, two(), two()) },
			func(c *Comm) (Request, error) { return IneighborAlltoall(c, two(), two()) },
			func(c *Comm) (Request, error) { return NeighborAlltoallInit(c, two(), two()) }),
		forms3("NeighborAlltoallv", func(c *Comm) error {
			return NeighborAlltoallv(c, two(), counts, nil, two(), counts, nil)
		},
			func(c *Comm) (Request, error) { return IneighborAlltoallv(c, two(), counts, nil, two(), counts, nil) },
			func(c *Comm) (Request, error) {
				return NeighborAlltoallvInit(c, two(), counts, nil, two(), counts, nil)
			}),
		forms3("NeighborAlltoallw", func(c *Comm) error { return NeighborAlltoallw(c, parts(), parts()) },
			func(c *Comm) (Request, error) { return IneighborAlltoallw(c, parts(), parts()) },
			func(c *Comm) (Request, error) { return NeighborAlltoallwInit(c, parts(), parts()) }),
	)
}
