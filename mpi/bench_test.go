package mpi

import (
	"errors"
	"testing"
)

// bench runs f as rank 0 of n; the other ranks run peer.
func bench(b *testing.B, n int, f, peer func(c *Comm) error, opts ...Option) {
	b.Helper()
	must(b, n, func(c *Comm) error {
		if c.Rank() != 0 {
			return peer(c)
		}
		return f(c)
	}, opts...)
}

func nothing(*Comm) error { return nil }

// BenchmarkSelf sends a message of 8 bytes to the rank itself and receives it: once through mpi and once through the
// server below. The difference is the cost of this package.
func BenchmarkSelf(b *testing.B) {
	b.Run("layer=mpi", func(b *testing.B) {
		bench(b, 1, func(c *Comm) error {
			out, in := []uint64{1}, []uint64{0}
			b.ResetTimer()
			for range b.N {
				if err := Send(c, out, 0, 1); err != nil {
					return err
				}
				if _, err := Recv(c, in, 0, 1); err != nil {
					return err
				}
			}
			return nil
		}, nothing)
	})
	b.Run("layer=comm", func(b *testing.B) {
		bench(b, 1, func(c *Comm) error {
			out, in, s := make([]byte, 8), make([]byte, 8), c.Proc().Server()
			b.ResetTimer()
			for range b.N {
				if err := s.Send(0, 0, 1, out, nil); err != nil {
					return err
				}
				if _, err := s.Recv(0, 0, 1, in, nil); err != nil {
					return err
				}
			}
			return nil
		}, nothing)
	})
}

// BenchmarkTypeCheck is what asking for the element type costs.
func BenchmarkTypeCheck(b *testing.B) {
	for range b.N {
		if !known(any((*point)(nil))) && elemOf[point]().Err() != nil {
			b.Fatal("refused")
		}
	}
}

// BenchmarkWindow posts 64 receives and sends 64 messages to the rank itself. Types are not checked, as in a program
// that golci run starts.
func BenchmarkWindow(b *testing.B) {
	bench(b, 1, func(c *Comm) error {
		out, in, rs := []uint64{1}, make([]uint64, 64), make([]Request, 64)
		b.ResetTimer()
		for i := 0; i < b.N; i += 64 {
			for k := range rs {
				var err error
				if rs[k], err = Irecv(c, in[k:k+1], 0, 1); err != nil {
					return err
				}
			}
			for range rs {
				if err := Send(c, out, 0, 1); err != nil {
					return err
				}
			}
			if err := Waitall(rs, nil); err != nil {
				return err
			}
		}
		return nil
	}, nothing, With("GOLCI_CHECK", "off"))
}

// BenchmarkPingPong is half a round trip of 8 bytes between two ranks of this process.
func BenchmarkPingPong(b *testing.B) {
	round := func(b *testing.B, c *Comm) error {
		x, peer := []uint64{1}, 1-c.Rank()
		for range b.N/2 + 1 {
			if c.Rank() == 0 {
				if err := Send(c, x, peer, 0); err != nil {
					return err
				}
			}
			if _, err := Recv(c, x, peer, 0); err != nil {
				return err
			}
			if c.Rank() == 1 {
				if err := Send(c, x, peer, 0); err != nil {
					return err
				}
			}
		}
		return nil
	}
	b.Run("caller=goroutine", func(b *testing.B) {
		f := func(c *Comm) error { return round(b, c) }
		bench(b, 2, f, f)
	})
	b.Run("caller=thread", func(b *testing.B) {
		f := func(c *Comm) error { return inThread(c, func() error { return round(b, c) }) }
		bench(b, 2, f, f)
	})
}

// BenchmarkCollectives of two ranks in this process.
func BenchmarkCollectives(b *testing.B) {
	in, out := []float64{1}, [2][]float64{{0}, {0}}
	calls := map[string]func(c *Comm) error{
		"barrier":   func(c *Comm) error { return c.Barrier() },
		"allreduce": func(c *Comm) error { return Allreduce(c, in, out[c.Rank()], Sum) },
		"bcast":     func(c *Comm) error { return errors.Join(Bcast(c, out[c.Rank()], 0), c.Barrier()) },
	}
	for name, call := range calls {
		b.Run("call="+name, func(b *testing.B) {
			f := func(c *Comm) error {
				for range b.N {
					if err := call(c); err != nil {
						return err
					}
				}
				return nil
			}
			bench(b, 2, f, f)
		})
	}
}

// BenchmarkBacklog sends messages of 8 bytes that nobody has posted a receive for. They are received when the last
// one is there, the tags backwards. Most are beyond the bound on unexpected messages, so that they wait at their
// sender.
func BenchmarkBacklog(b *testing.B) {
	const tags, last = 4096, 4096
	bench(b, 2, func(c *Comm) error {
		out, rs := make([]uint64, b.N), make([]Request, b.N)
		b.ResetTimer()
		for i := range rs {
			var err error
			if rs[i], err = Isend(c, out[i:i+1], 1, i%tags); err != nil {
				return err
			}
		}
		if err := Send(c, []uint64{1}, 1, last); err != nil {
			return err
		}
		return Waitall(rs, nil)
	}, func(c *Comm) error {
		in := []uint64{0}
		if _, err := Recv(c, in, 0, last); err != nil {
			return err
		}
		for tag := tags - 1; tag >= 0; tag-- {
			for i := tag; i < b.N; i += tags {
				if _, err := Recv(c, in, 0, tag); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
