package mpi

import (
	"fmt"
	"testing"
)

func TestSmoke(t *testing.T) {
	for n := 1; n <= 8; n++ {
		err := Run(n, func(c *Comm) error {
			buf := []int{c.Rank()}
			in := []int{0}
			for range 10 {
				if _, err := Sendrecv(c, buf, (c.Rank()+1)%n, 3, in, (c.Rank()+n-1)%n, 3); err != nil {
					return err
				}
				if in[0] != (c.Rank()+n-1)%n {
					return fmt.Errorf("got %d", in[0])
				}
			}
			d, err := c.Dup()
			if err != nil {
				return err
			}
			s := []int{0}
			if err := Allreduce(d, buf, s, Sum[int]()); err != nil {
				return err
			}
			if s[0] != n*(n-1)/2 {
				return fmt.Errorf("sum %d", s[0])
			}
			return d.Free()
		})
		if err != nil {
			t.Fatal(n, err)
		}
	}
}
