package mpi

// collRows are calls of collectives.
func collRows() (rows []pendingRow) {
	add := func(kind string, block func(c *Comm) error, start, init func(c *Comm) (Request, error)) {
		rows = append(rows, blocks(kind, block), starts("I"+lowerFirst(kind), start),
			starts(kind+"Init", func(c *Comm) (Request, error) { return startedNow(init(c)) }))
	}
	add("Allgather", func(c *Comm) error { return Allgather(c, ins()[:1], ins()) },
		func(c *Comm) (Request, error) { return Iallgather(c, ins()[:1], ins()) },
		func(c *Comm) (Request, error) { return AllgatherInit(c, ins()[:1], ins()) })
	add("Allgatherv", func(c *Comm) error { return Allgatherv(c, ins()[:1], ins(), two, nil) },
		func(c *Comm) (Request, error) { return Iallgatherv(c, ins()[:1], ins(), two, nil) },
		func(c *Comm) (Request, error) { return AllgathervInit(c, ins()[:1], ins(), two, nil) })
	add("Allreduce", func(c *Comm) error { return Allreduce(c, ins(), ins(), Sum) },
		func(c *Comm) (Request, error) { return Iallreduce(c, ins(), ins(), Sum) },
		func(c *Comm) (Request, error) { return AllreduceInit(c, ins(), ins(), Sum) })
	add("Alltoall", func(c *Comm) error { return Alltoall(c, ins(), ins()) },
		func(c *Comm) (Request, error) { return Ialltoall(c, ins(), ins()) },
		func(c *Comm) (Request, error) { return AlltoallInit(c, ins(), ins()) })
	add("Alltoallv", func(c *Comm) error { return Alltoallv(c, ins(), two, nil, ins(), two, nil) },
		func(c *Comm) (Request, error) { return Ialltoallv(c, ins(), two, nil, ins(), two, nil) },
		func(c *Comm) (Request, error) { return AlltoallvInit(c, ins(), two, nil, ins(), two, nil) })
	add("Alltoallw", func(c *Comm) error { return Alltoallw(c, parts(), parts()) },
		func(c *Comm) (Request, error) { return Ialltoallw(c, parts(), parts()) },
		func(c *Comm) (Request, error) { return AlltoallwInit(c, parts(), parts()) })
	add("Bcast", func(c *Comm) error { return Bcast(c, ins(), 0) },
		func(c *Comm) (Request, error) { return Ibcast(c, ins(), 0) },
		func(c *Comm) (Request, error) { return BcastInit(c, ins(), 0) })
	add("Exscan", func(c *Comm) error { return Exscan(c, ins(), ins(), Sum) },
		func(c *Comm) (Request, error) { return Iexscan(c, ins(), ins(), Sum) },
		func(c *Comm) (Request, error) { return ExscanInit(c, ins(), ins(), Sum) })
	add("Gather", func(c *Comm) error { return Gather(c, ins()[:1], ins(), 1) },
		func(c *Comm) (Request, error) { return Igather(c, ins()[:1], ins(), 1) },
		func(c *Comm) (Request, error) { return GatherInit(c, ins()[:1], ins(), 1) })
	add("Gatherv", func(c *Comm) error { return Gatherv(c, ins()[:1], ins(), two, nil, 1) },
		func(c *Comm) (Request, error) { return Igatherv(c, ins()[:1], ins(), two, nil, 1) },
		func(c *Comm) (Request, error) { return GathervInit(c, ins()[:1], ins(), two, nil, 1) })
	add("Reduce", func(c *Comm) error { return Reduce(c, ins(), ins(), Sum, 1) },
		func(c *Comm) (Request, error) { return Ireduce(c, ins(), ins(), Sum, 1) },
		func(c *Comm) (Request, error) { return ReduceInit(c, ins(), ins(), Sum, 1) })
	add("ReduceScatter", func(c *Comm) error { return ReduceScatter(c, ins(), ins()[:1], two, Sum) },
		func(c *Comm) (Request, error) { return IreduceScatter(c, ins(), ins()[:1], two, Sum) },
		func(c *Comm) (Request, error) { return ReduceScatterInit(c, ins(), ins()[:1], two, Sum) })
	add("ReduceScatterBlock", func(c *Comm) error { return ReduceScatterBlock(c, ins(), ins()[:1], Sum) },
		func(c *Comm) (Request, error) { return IreduceScatterBlock(c, ins(), ins()[:1], Sum) },
		func(c *Comm) (Request, error) { return ReduceScatterBlockInit(c, ins(), ins()[:1], Sum) })
	add("Scan", func(c *Comm) error { return Scan(c, ins(), ins(), Sum) },
		func(c *Comm) (Request, error) { return Iscan(c, ins(), ins(), Sum) },
		func(c *Comm) (Request, error) { return ScanInit(c, ins(), ins(), Sum) })
	add("Scatter", func(c *Comm) error { return Scatter(c, ins(), ins()[:1], 0) },
		func(c *Comm) (Request, error) { return Iscatter(c, ins(), ins()[:1], 0) },
		func(c *Comm) (Request, error) { return ScatterInit(c, ins(), ins()[:1], 0) })
	add("Scatterv", func(c *Comm) error { return Scatterv(c, ins(), two, nil, ins()[:1], 0) },
		func(c *Comm) (Request, error) { return Iscatterv(c, ins(), two, nil, ins()[:1], 0) },
		func(c *Comm) (Request, error) { return ScattervInit(c, ins(), two, nil, ins()[:1], 0) })
	rows = append(rows, neighborRows()...)
	return append(append(rows, valueRows()...), starts("Comm.Ibarrier", func(c *Comm) (Request, error) { return c.Ibarrier() }),
		blocks("Comm.Barrier", func(c *Comm) error { return c.Barrier() }),
		starts("Comm.BarrierInit", func(c *Comm) (Request, error) { return startedNow(c.BarrierInit()) }))
}

// collectiveRows are collRows. When another rank calls Finalize they end with ErrMismatch, which says so.
func collectiveRows() (rows []pendingRow) {
	for _, r := range collRows() {
		rows = append(rows, r.not(byFinal, "the end of the other rank ends it"))
	}
	return rows
}

// neighborRows are those over a ring, where each of the two ranks is the other's neighbour twice.
func neighborRows() (rows []pendingRow) {
	add := func(kind string, block func(c *Comm) error, start, init func(c *Comm) (Request, error)) {
		rows = append(rows, blocks("Neighbor"+kind, block).over("ring"), starts("Ineighbor"+kind, start).over("ring"),
			starts("Neighbor"+kind+"Init", func(c *Comm) (Request, error) { return startedNow(init(c)) }).over("ring"))
	}
	add("Allgather", func(c *Comm) error { return NeighborAllgather(c, ins()[:1], ins()) },
		func(c *Comm) (Request, error) { return IneighborAllgather(c, ins()[:1], ins()) },
		func(c *Comm) (Request, error) { return NeighborAllgatherInit(c, ins()[:1], ins()) })
	add("Allgatherv", func(c *Comm) error { return NeighborAllgatherv(c, ins()[:1], ins(), two, nil) },
		func(c *Comm) (Request, error) { return IneighborAllgatherv(c, ins()[:1], ins(), two, nil) },
		func(c *Comm) (Request, error) { return NeighborAllgathervInit(c, ins()[:1], ins(), two, nil) })
	add("Alltoall", func(c *Comm) error { return NeighborAlltoall(c, ins(), ins()) },
		func(c *Comm) (Request, error) { return IneighborAlltoall(c, ins(), ins()) },
		func(c *Comm) (Request, error) { return NeighborAlltoallInit(c, ins(), ins()) })
	add("Alltoallv", func(c *Comm) error { return NeighborAlltoallv(c, ins(), two, nil, ins(), two, nil) },
		func(c *Comm) (Request, error) { return IneighborAlltoallv(c, ins(), two, nil, ins(), two, nil) },
		func(c *Comm) (Request, error) { return NeighborAlltoallvInit(c, ins(), two, nil, ins(), two, nil) })
	add("Alltoallw", func(c *Comm) error { return NeighborAlltoallw(c, parts(), parts()) },
		func(c *Comm) (Request, error) { return IneighborAlltoallw(c, parts(), parts()) },
		func(c *Comm) (Request, error) { return NeighborAlltoallwInit(c, parts(), parts()) })
	return rows
}

// valueRows are the calls that give what they receive.
func valueRows() []pendingRow {
	return []pendingRow{
		blocks("AllgatherOne", func(c *Comm) error { return second(AllgatherOne(c, 1)) }),
		blocks("AllgatherValue", func(c *Comm) error { return second(AllgatherValue(c, 1)) }),
		blocks("AllgathervAlloc", func(c *Comm) error { return threeErr(AllgathervAlloc(c, ins())) }),
		blocks("AlltoallvAlloc", func(c *Comm) error { return threeErr(AlltoallvAlloc(c, ins(), two)) }),
		blocks("GathervAlloc", func(c *Comm) error { return threeErr(GathervAlloc(c, ins(), 1)) }),
		blocks("AllreduceOne", func(c *Comm) error { return second(AllreduceOne(c, 1, Sum)) }),
		blocks("AllreduceValue", func(c *Comm) error { return second(AllreduceValue(c, 1, add)) }),
		blocks("AlltoallValue", func(c *Comm) error { return second(AlltoallValue(c, ins())) }),
		blocks("BcastOne", func(c *Comm) error { return second(BcastOne(c, 1, 0)) }),
		blocks("BcastValue", func(c *Comm) error { return second(BcastValue(c, 1, 0)) }),
		blocks("ExscanValue", func(c *Comm) error { return second(ExscanValue(c, 1, add)) }),
		blocks("GatherOne", func(c *Comm) error { return second(GatherOne(c, 1, 1)) }),
		blocks("GatherValue", func(c *Comm) error { return second(GatherValue(c, 1, 1)) }),
		blocks("ReduceOne", func(c *Comm) error { return second(ReduceOne(c, 1, Sum, 1)) }),
		blocks("ReduceValue", func(c *Comm) error { return second(ReduceValue(c, 1, add, 1)) }),
		blocks("ScanValue", func(c *Comm) error { return second(ScanValue(c, 1, add)) }),
		blocks("ScatterValue", func(c *Comm) error { return second(ScatterValue(c, ins(), 0)) }),
	}
}
