package mpi

import (
	"fmt"
	"testing"
)

// BenchmarkStrided sends parts of slices of doubles to the rank itself: as plain slices, packed by the program, and as
// they lie.
func BenchmarkStrided(b *testing.B) {
	for _, s := range []Strided{{64, 1, 2}, {1024, 1, 16}, {8192, 1, 2}, {2048, 4, 8}, {512, 512, 1024}} {
		mem, to := make([]float64, s.endIndex()), make([]float64, s.endIndex())
		n := s.Count * s.Block
		buf, in := make([]float64, n), make([]float64, n)
		dense := func(c *Comm) error {
			r, err := Irecv(c, in, 0, 1)
			if err != nil {
				return err
			}
			if err := Send(c, buf, 0, 1); err != nil {
				return err
			}
			_, err = r.Wait()
			return err
		}
		ways := map[string]func(c *Comm) error{
			"dense": dense,
			"hand": func(c *Comm) error {
				for i := range s.Count {
					copy(buf[i*s.Block:][:s.Block], mem[i*s.Stride:])
				}
				err := dense(c)
				for i := range s.Count {
					copy(to[i*s.Stride:], in[i*s.Block:][:s.Block])
				}
				return err
			},
			"strided": func(c *Comm) error {
				r, err := IrecvStrided(c, to, s, 0, 1)
				if err != nil {
					return err
				}
				if err := SendStrided(c, mem, s, 0, 1); err != nil {
					return err
				}
				_, err = r.Wait()
				return err
			},
		}
		for _, way := range []string{"dense", "hand", "strided"} {
			b.Run(fmt.Sprintf("n=%d/block=%d/stride=%d/%s", s.Count, s.Block, s.Stride, way), func(b *testing.B) {
				b.SetBytes(int64(8 * n))
				bench(b, 1, func(c *Comm) error {
					for b.Loop() {
						if err := ways[way](c); err != nil {
							return err
						}
					}
					return nil
				}, nothing)
			})
		}
	}
}
