package ranks

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// A call does one collective operation and returns the time of that alone. check has the payload of this one
// verified. A barrier follows outside the time.
type call func(e *env, size, i int, check bool) (time.Duration, error)

var collectives = map[string]func(e *env, size int) call{
	"barrier":        func(*env, int) call { return barrier },
	"bcast":          func(*env, int) call { return bcast },
	"allreduce":      allreduce,
	"reduce":         reduce,
	"reduce_scatter": reduceScatter,
	"allgather":      allgather,
	"alltoall":       alltoall,
	"alltoallv":      alltoallv,
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

// once does one operation and returns the time of that alone. With check prepare is called before and verify after it.
func (e *env) once(check bool, prepare func(), operation, verify func() error) (time.Duration, error) {
	if check {
		prepare()
	}
	start := time.Now()
	err := operation()
	took := time.Since(start)
	if err == nil && check {
		err = verify()
	}
	if err == nil {
		err = e.comm.Barrier()
	}
	return took, err
}

func bcast(e *env, size, i int, check bool) (time.Duration, error) {
	buf := e.send[:size]
	return e.once(check, func() {
		if e.rank == 0 {
			stamp(buf, i)
		}
	}, func() error { return mpi.Bcast(e.comm, buf, 0) }, func() error { return checkStamp(buf, i) })
}

const floatSize = 4

// allreduce sums float32 values; a size that is no multiple of four is rounded down.
func allreduce(e *env, size int) call {
	return summed(size, true, func(in, out []float32) error { return mpi.Allreduce(e.comm, in, out, mpi.Sum) })
}

func reduce(e *env, size int) call {
	return summed(size, e.rank == 0, func(in, out []float32) error { return mpi.Reduce(e.comm, in, out, mpi.Sum, 0) })
}

// summed calls f; gets says whether this rank gets the sum.
func summed(size int, gets bool, f func(in, out []float32) error) call {
	in, out := make([]float32, size/floatSize), make([]float32, size/floatSize)
	return func(e *env, _, i int, check bool) (time.Duration, error) {
		return e.once(check, func() { mark(in, float32(i%1024+e.rank)) }, func() error { return f(in, out) },
			func() error {
				if !gets {
					return nil
				}
				return checkSum(out, e.size, i)
			})
	}
}

// reduceScatter gives each rank size bytes of the sum.
func reduceScatter(e *env, size int) call {
	n := size / floatSize
	in, out := make([]float32, n*e.size), make([]float32, n)
	return func(e *env, _, i int, check bool) (time.Duration, error) {
		return e.once(check, func() {
			for r := range e.size {
				mark(in[r*n:][:n], float32(i%1024+e.rank))
			}
		}, func() error { return mpi.ReduceScatterBlock(e.comm, in, out, mpi.Sum) },
			func() error { return checkSum(out, e.size, i) })
	}
}

// allgather gives each rank size bytes of each.
func allgather(e *env, size int) call {
	in, out := make([]byte, size), make([]byte, size*e.size)
	return func(e *env, _, i int, check bool) (time.Duration, error) {
		return e.once(check, func() { stamp(in, i+e.rank) }, func() error { return mpi.Allgather(e.comm, in, out) },
			func() (err error) {
				for r := range e.size {
					err = cmp.Or(err, checkStamp(out[r*size:][:size], i+r))
				}
				return err
			})
	}
}

func alltoall(e *env, size int) call {
	in, out := make([]byte, size*e.size), make([]byte, size*e.size)
	return exchangeAll(in, out, size, func() error { return mpi.Alltoall(e.comm, in, out) })
}

func alltoallv(e *env, size int) call {
	in, out, counts := make([]byte, size*e.size), make([]byte, size*e.size), slices.Repeat([]int{size}, e.size)
	return exchangeAll(in, out, size, func() error { return mpi.Alltoallv(e.comm, in, counts, nil, out, counts, nil) })
}

// exchangeAll calls f, by which each rank sends size bytes to each.
func exchangeAll(in, out []byte, size int, f func() error) call {
	return func(e *env, _, i int, check bool) (time.Duration, error) {
		return e.once(check, func() {
			for r := range e.size {
				stamp(in[r*size:][:size], i+e.rank*e.size+r)
			}
		}, f, func() (err error) {
			for r := range e.size {
				err = cmp.Or(err, checkStamp(out[r*size:][:size], i+r*e.size+e.rank))
			}
			return err
		})
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
