package realm_test

import (
	"context"
	"fmt"

	"github.com/golci/golci/realm"
)

// An instance around a slice of the program: each field has its place in the elements of the slice. The other instance
// has the same points in columns.
func ExampleNewExternal() {
	err := realm.Run(1, func(rt *realm.Runtime) error {
		matrix := []int64{1, 2, 3, 4, 5, 6} // two rows of three
		v := realm.FieldOf[int64]("v")
		rows, err := realm.NewExternal(rt, matrix, realm.Grid(2, 3), realm.AOS, v)
		if err != nil {
			return err
		}
		turned := make([]int64, 6)
		columns := realm.Strided{{Base: 0, Stride: []int64{8, 16}}}
		other, err := realm.NewExternal(rt, turned, realm.Grid(2, 3), columns, v)
		if err != nil {
			return err
		}
		if err := rt.Wait(context.Background(), realm.Copy(rt, other, rows, realm.Part{})); err != nil {
			return err
		}
		fmt.Println(turned)
		return nil
	})
	fmt.Println(err)
	// Output:
	// [1 4 2 5 3 6]
	// <nil>
}

// The points to gather are a field of an instance, which is written before the gather begins.
func ExampleGatherBy() {
	err := realm.Run(2, func(rt *realm.Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		points, far := []realm.Point{{1, 2}, {0, 0}, {1, 0}}, rt.MemoryOf(1, realm.System)
		grid, v := []int64{10, 11, 12, 20, 21, 22}, realm.FieldOf[int64]("v")
		from, err := realm.NewExternal(rt, grid, realm.Grid(2, 3), realm.AOS, v)
		if err != nil {
			return err
		}
		list, err := realm.NewExternal(rt, points, realm.Range(0, 3), realm.AOS, realm.FieldOf[realm.Point]("p"))
		if err != nil {
			return err
		}
		index, made := realm.CreateInstance(rt, far, realm.Range(0, 3), realm.SOA,
			[]realm.Field{realm.FieldOf[realm.Point]("p")})
		written := realm.Copy(rt, index, list, realm.Part{}, realm.After(made))

		got := make([]int64, 3)
		to, err := realm.NewExternal(rt, got, realm.Range(0, 3), realm.AOS, v)
		if err != nil {
			return err
		}
		done := realm.GatherBy(rt, to, from, realm.IndexField(index, 0), realm.Part{}, realm.After(written))
		if err := rt.Wait(context.Background(), done); err != nil {
			return err
		}
		fmt.Println(got)
		return nil
	})
	fmt.Println(err)
	// Output:
	// [22 10 20]
	// <nil>
}
