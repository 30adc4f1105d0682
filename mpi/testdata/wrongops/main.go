// The program must not compile: each line with ERROR has the wrong type for its operation, and no other line has.
package main

import "github.com/golci/golci/mpi"

type celsius float64

type point struct{ X, Y float64 }

func main() {}

func right(c *mpi.Comm) {
	_ = mpi.Allreduce(c, []float64{1}, []float64{0}, mpi.Sum)
	_ = mpi.Allreduce(c, []celsius{1}, []celsius{0}, mpi.Max)
	_ = mpi.Reduce(c, []uint8{1}, nil, mpi.Band, 0)
	_ = mpi.Allreduce(c, []bool{true}, []bool{false}, mpi.Lxor)
	_ = mpi.Allreduce(c, []mpi.Loc[celsius]{{}}, []mpi.Loc[celsius]{{}}, mpi.MinLoc)
	_ = mpi.Allreduce(c, []point{{}}, []point{{}}, mpi.Func(func(a, b point) point { return point{a.X, b.Y} }))
	_, _ = mpi.AllreduceOne(c, 1, mpi.Sum)
	_, _ = mpi.ReduceOne(c, celsius(1), mpi.Prod, 0)
}

// generic passes its constraint on.
func generic[T mpi.Real](c *mpi.Comm, v, w []T) error { return mpi.Allreduce(c, v, w, mpi.Min) }

func wrong(c *mpi.Comm) {
	_ = mpi.Allreduce(c, []float64{1}, []float64{0}, mpi.Band)                // ERROR float64 does not satisfy mpi.Int
	_ = mpi.Allreduce(c, []celsius{1}, []celsius{0}, mpi.Bxor)                // ERROR celsius does not satisfy mpi.Int
	_ = mpi.Allreduce(c, []complex128{1}, []complex128{0}, mpi.Max)           // ERROR complex128 does not satisfy
	_ = mpi.Allreduce(c, []bool{true}, []bool{false}, mpi.Sum)                // ERROR bool does not satisfy mpi.Number
	_ = mpi.Allreduce(c, []int{1}, []int{0}, mpi.Land)                        // ERROR int) does not satisfy ~bool
	_ = mpi.Allreduce(c, []point{{}}, []point{{}}, mpi.Sum)                   // ERROR point does not satisfy mpi.Number
	_ = mpi.Allreduce(c, []float64{1}, []float64{0}, mpi.MinLoc)              // ERROR Loc
	_ = mpi.Allreduce(c, []float64{1}, []float64{0}, mpi.Sum[int])            // ERROR Reducer
	_ = mpi.Reduce(c, []float64{1}, []float32{0}, mpi.Sum, 0)                 // ERROR float32
	_ = mpi.Allreduce(c, []int{1}, []int{0}, func(a, b int) int { return a }) // ERROR func
	_, _ = mpi.AllreduceOne(c, "text", mpi.Sum)                               // ERROR string does not satisfy

	_ = mpi.Allreduce(c, []float64{1}, []float64{0}, mpi.Func(func(a, b int) int { return a })) // ERROR int
}

// tooGeneric knows too little of T.
func tooGeneric[T any](c *mpi.Comm, v, w []T) error {
	return mpi.Allreduce(c, v, w, mpi.Sum) // ERROR T does not satisfy mpi.Number
}
