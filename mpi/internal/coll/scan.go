package coll

import (
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// prefix is a kind of scan. A vector is one message, or several of which the last one has a tag of its own.
type prefix struct {
	whole, parts, end algorithm.Algorithm
	build             func(s *schedule.Schedule, p schedule.Place, l schedule.Lengths, inPlace bool)
}

var (
	inclusive = prefix{algorithm.Scan, algorithm.ScanParts, algorithm.ScanEnd, (*schedule.Schedule).Scan}
	exclusive = prefix{algorithm.Exscan, algorithm.ExscanParts, algorithm.ExscanEnd, (*schedule.Schedule).Exscan}
)

// chooseScan checks the buffers and builds the schedule. result tells that the rank's Out is looked at.
func (x *Call) chooseScan(k *prefix, result bool) error {
	of, err := x.reduction(result)
	if err != nil {
		return err
	}
	w := scanAlgorithm(k, of.bytes)
	if x.plan(w, 0, of) {
		k.build(x.steps, x.schedulePlace(), segmented(of), of.inPlace)
	}
	if w == k.parts {
		x.lastTag = x.tagged(k.end, 0)
	}
	return nil
}

// emptyPrefix tells that rank 0 of an Exscan gets nothing, so that its Out is not looked at.
func (x *Call) emptyPrefix() bool { return x.rank == 0 && !argument.IsInPlace(x.buf[schedule.In].mem) }

// scanAlgorithm is for a vector of n bytes.
func scanAlgorithm(k *prefix, n int) algorithm.Algorithm {
	if n > algorithm.ReduceSegment {
		return k.parts
	}
	return k.whole
}
