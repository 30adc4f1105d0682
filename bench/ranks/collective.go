package ranks

import (
	"fmt"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// A call does one collective operation and returns the time of that alone. check has the payload of this one
// verified. A barrier follows outside the time.
type call func(e *env, size, i int, check bool) (time.Duration, error)

var collectives = map[string]func(e *env, size int) call{
	"barrier":   func(*env, int) call { return barrier },
	"bcast":     func(*env, int) call { return bcast },
	"allreduce": allreduce,
	"reduce":    reduce,
	"alltoall":  alltoall,
	"alltoallv": alltoallv,
}

// collective reports the mean over iterations and ranks, as the OSU benchmarks do.
func (e *env) collective(c Config, prepare func(*env, int) call, size int) error {
	f := prepare(e, size)
	return e.timed(c, size, c.iterations(size, 1000, 100), bench.Micro, func(n int) (float64, error) {
		took, err := e.repeat(f, size, n)
		if err != nil {
			return 0, err
		}
		sum, err := mpi.AllreduceOne(e.comm, float64(took.Nanoseconds())/float64(n), mpi.Sum)
		return sum / float64(e.size) / 1000, err
	})
}

func (e *env) repeat(f call, size, n int) (time.Duration, error) {
	var sum time.Duration
	for i := range n {
		took, err := f(e, size, i, i%checkEvery == 0)
		if err != nil {
			return 0, err
		}
		sum += took
	}
	return sum, nil
}

func barrier(e *env, _, _ int, _ bool) (time.Duration, error) {
	start := time.Now()
	err := e.comm.Barrier()
	return time.Since(start), err
}

func bcast(e *env, size, i int, check bool) (time.Duration, error) {
	buf := e.send[:size]
	if check && e.rank == 0 {
		stamp(buf, i)
	}
	start := time.Now()
	err := mpi.Bcast(e.comm, buf, 0)
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	if check {
		if err := checkStamp(buf, i); err != nil {
			return 0, err
		}
	}
	return took, e.comm.Barrier()
}

const floatSize = 4

// allreduce sums float32 values; a size that is no multiple of four is rounded down.
func allreduce(_ *env, size int) call {
	return summed(size, func(e *env, in, out []float32) (bool, error) { return true, mpi.Allreduce(e.comm, in, out, mpi.Sum) })
}

func reduce(_ *env, size int) call {
	return summed(size, func(e *env, in, out []float32) (bool, error) {
		return e.rank == 0, mpi.Reduce(e.comm, in, out, mpi.Sum, 0)
	})
}

// summed calls f, which says whether this rank has got the sum.
func summed(size int, f func(e *env, in, out []float32) (bool, error)) call {
	in, out := make([]float32, size/floatSize), make([]float32, size/floatSize)
	return func(e *env, _, i int, check bool) (time.Duration, error) {
		if check {
			mark(in, float32(i%1024+e.rank))
		}
		start := time.Now()
		got, err := f(e, in, out)
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		if check && got {
			if err := checkSum(out, e.size, i); err != nil {
				return 0, err
			}
		}
		return took, e.comm.Barrier()
	}
}

func alltoall(e *env, size int) call {
	in, out := make([]byte, size*e.size), make([]byte, size*e.size)
	return exchangeAll(in, out, size, func() error { return mpi.Alltoall(e.comm, in, out) })
}

func alltoallv(e *env, size int) call {
	in, out, counts := make([]byte, size*e.size), make([]byte, size*e.size), make([]int, e.size)
	for i := range counts {
		counts[i] = size
	}
	return exchangeAll(in, out, size, func() error { return mpi.Alltoallv(e.comm, in, counts, nil, out, counts, nil) })
}

func exchangeAll(in, out []byte, size int, f func() error) call {
	return func(e *env, _, i int, check bool) (time.Duration, error) {
		for r := 0; check && r < e.size; r++ {
			stamp(in[r*size:][:size], i+e.rank*e.size+r)
		}
		start := time.Now()
		err := f()
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		for r := 0; check && r < e.size; r++ {
			if err := checkStamp(out[r*size:][:size], i+r*e.size+e.rank); err != nil {
				return 0, err
			}
		}
		return took, e.comm.Barrier()
	}
}

func mark(v []float32, x float32) {
	if n := len(v); n > 0 {
		v[0], v[n/2], v[n-1] = x, x, x
	}
}

func checkSum(v []float32, ranks, i int) error {
	n := len(v)
	if n == 0 {
		return nil
	}
	want := float32(ranks*(i%1024) + ranks*(ranks-1)/2)
	if v[0] != want || v[n/2] != want || v[n-1] != want {
		return fmt.Errorf("%w: sums %v, %v, %v, want %v", ErrPayload, v[0], v[n/2], v[n-1], want)
	}
	return nil
}
