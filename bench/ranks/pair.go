package ranks

import (
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

const (
	window  = 64 // messages in flight in bandwidth, bibw and rate
	tagData = 1
	tagBack = 2
)

// A loop runs n iterations with messages of size bytes and returns the time they took on the calling rank. whole has
// every byte of every message written and verified; else a share is.
type loop func(e *env, size, n int, whole bool) (time.Duration, error)

type pairBench struct {
	loop         loop
	unit         string
	small, large int // iterations up to and above the large size
	value        func(size, n int, seconds float64) float64
}

var pairs = map[string]pairBench{
	"latency":   {latency, bench.Micro, 10000, 1000, oneWay},
	"bandwidth": {stream, bench.MegaPerSec, 100, 20, megabytes},
	"bibw":      {both, bench.MegaPerSec, 100, 20, megabytesBoth},
	"rate":      {stream, bench.PerSecond, 100, 20, messages},

	"vector": {columnTrips((*column).send, (*column).recv), bench.Micro, 1000, 100, oneWay},
	"packed": {columnTrips((*column).sendPacked, (*column).recvPacked), bench.Micro, 1000, 100, oneWay},

	"winput":       {access(putAccess), bench.Micro, 1000, 100, each},
	"winget":       {access(getAccess), bench.Micro, 1000, 100, each},
	"accumulate":   {access(sumAccess), bench.Micro, 1000, 100, each},
	"fetch_and_op": {access(fetchAccess), bench.Micro, 1000, 100, each},
}

func oneWay(_, n int, s float64) float64           { return s * 1e6 / float64(2*n) }
func each(_, n int, s float64) float64             { return s * 1e6 / float64(n) }
func messages(_, n int, s float64) float64         { return float64(n) * window / s }
func megabytes(size, n int, s float64) float64     { return messages(size, n, s) * float64(size) / 1e6 }
func megabytesBoth(size, n int, s float64) float64 { return 2 * megabytes(size, n, s) }

// pair warms up with every payload verified.
func (e *env) pair(c Config, p pairBench, size int) error {
	if e.size < 2 {
		return ErrRanks
	}
	least := c.iterations(size, p.small, p.large)
	if _, err := p.loop(e, size, least/10, true); err != nil {
		return err
	}
	return e.timed(c, size, least, p.unit, func(n int) (float64, error) {
		took, err := p.loop(e, size, n, false)
		return p.value(size, n, took.Seconds()), err
	})
}

// between makes rank 0 run first and rank 1 second.
func between(first, second func(e *env, size, n int, whole bool) error) loop {
	return func(e *env, size, n int, whole bool) (time.Duration, error) {
		start := time.Now()
		var err error
		switch e.rank {
		case 0:
			err = first(e, size, n, whole)
		case 1:
			err = second(e, size, n, whole)
		}
		return time.Since(start), err
	}
}

var (
	latency = between((*env).ping, (*env).pong)
	// stream sends windows from rank 0 to rank 1, one buffer for all messages, each window acknowledged with 4 bytes.
	stream = between((*env).source, (*env).sink)
)

func (e *env) ping(size, n int, whole bool) error {
	out, in := e.send[:size], e.recv[:size]
	for i := range n {
		put(out, i, whole)
		if err := mpi.Send(e.comm, out, 1, tagData); err != nil {
			return err
		}
		if _, err := mpi.Recv(e.comm, in, 1, tagData); err != nil {
			return err
		}
		if err := look(in, i, whole); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) pong(size, n int, whole bool) error {
	out, in := e.send[:size], e.recv[:size]
	for i := range n {
		put(out, i, whole)
		if _, err := mpi.Recv(e.comm, in, 0, tagData); err != nil {
			return err
		}
		if err := look(in, i, whole); err != nil {
			return err
		}
		if err := mpi.Send(e.comm, out, 0, tagData); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) source(size, n int, whole bool) error {
	out := e.send[:size]
	reqs, ack := make([]mpi.Request, window), make([]byte, 4)
	for i := range n {
		put(out, i, whole)
		if err := e.isends(reqs, out, 1); err != nil {
			return err
		}
		if err := mpi.Waitall(reqs, nil); err != nil {
			return err
		}
		if _, err := mpi.Recv(e.comm, ack, 1, tagBack); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) sink(size, n int, whole bool) error {
	in := e.recv[:size]
	reqs, ack := make([]mpi.Request, window), make([]byte, 4)
	for i := range n {
		if err := e.irecvs(reqs, in, 0); err != nil {
			return err
		}
		if err := mpi.Waitall(reqs, nil); err != nil {
			return err
		}
		if err := look(in, i, whole); err != nil {
			return err
		}
		if err := mpi.Send(e.comm, ack, 0, tagBack); err != nil {
			return err
		}
	}
	return nil
}

// both needs no acknowledgement: a rank that has its peer's window knows that the peer has begun it.
func both(e *env, size, n int, whole bool) (time.Duration, error) {
	start := time.Now()
	if e.rank > 1 {
		return 0, nil
	}
	out, in, peer := e.send[:size], e.recv[:size], 1-e.rank
	sends, recvs := make([]mpi.Request, window), make([]mpi.Request, window)
	for i := range n {
		put(out, i, whole)
		if err := e.irecvs(recvs, in, peer); err != nil {
			return 0, err
		}
		if err := e.isends(sends, out, peer); err != nil {
			return 0, err
		}
		if err := mpi.Waitall(sends, nil); err != nil {
			return 0, err
		}
		if err := mpi.Waitall(recvs, nil); err != nil {
			return 0, err
		}
		if err := look(in, i, whole); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func (e *env) isends(reqs []mpi.Request, buf []byte, peer int) (err error) {
	for i := range reqs {
		if reqs[i], err = mpi.Isend(e.comm, buf, peer, tagData); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) irecvs(reqs []mpi.Request, buf []byte, peer int) (err error) {
	for i := range reqs {
		if reqs[i], err = mpi.Irecv(e.comm, buf, peer, tagData); err != nil {
			return err
		}
	}
	return nil
}
