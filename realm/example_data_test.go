package realm_test

import (
	"context"
	"fmt"

	"github.com/golci/golci/realm"
)

// Two instances of one rank, in different layouts, and a copy of some points between them.
func ExampleCopy() {
	err := realm.Run(1, func(rt *realm.Runtime) error {
		mem, p, n := rt.Memory(realm.System), realm.FieldOf[float64]("p"), realm.FieldOf[int32]("n")
		a, err := realm.NewInstance(rt, mem, realm.Range(0, 8), realm.AOS, p, n)
		if err != nil {
			return err
		}
		b, err := realm.NewInstance(rt, mem, realm.Range(0, 8), realm.SOA, p, n)
		if err != nil {
			return err
		}
		some := realm.Range(2, 5)
		filled := realm.Fill(rt, a, 0, 1.5, nil)
		copied := realm.Copy(rt, b, a, realm.Part{Points: &some}, realm.After(filled))
		if err := rt.Wait(context.Background(), copied); err != nil {
			return err
		}
		v, err := realm.ViewOf[float64](b, "p")
		if err != nil {
			return err
		}
		fmt.Println(v.Slice())
		return nil
	})
	fmt.Println(err)
	// Output:
	// [0 0 1.5 1.5 1.5 0 0 0]
	// <nil>
}

var addFloats = realm.RegisterOp("example.add", realm.SumOp[float64]())

// Reductions are collected in an instance of their own, and applied together.
func ExampleReduce() {
	err := realm.Run(1, func(rt *realm.Runtime) error {
		points := realm.Range(0, 4)
		total, err := realm.NewArray[float64](rt, rt.Memory(realm.System), points)
		if err != nil {
			return err
		}
		f, err := realm.NewFold(addFloats, points, realm.ExclusiveReductions)
		if err != nil {
			return err
		}
		for i := range 10 {
			if err := f.Reduce(int64(i%3), 0.5); err != nil {
				return err
			}
		}
		if err := rt.Wait(context.Background(), realm.Reduce(rt, total, 0, f)); err != nil {
			return err
		}
		v, err := realm.ViewOf[float64](total, "")
		if err != nil {
			return err
		}
		fmt.Println(v.Slice())
		return nil
	})
	fmt.Println(err)
	// Output:
	// [2 1.5 1.5 0]
	// <nil>
}
