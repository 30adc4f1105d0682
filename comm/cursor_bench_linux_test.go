package comm

import (
	"errors"
	"fmt"
	"testing"
)

// BenchmarkStrided sends strided blocks to strided memory, there and back. Cursors do it, or code that packs into
// memory of the message's size at both ends. A contiguous message is there for comparison.
func BenchmarkStrided(b *testing.B) {
	for _, size := range []int{256, 4 << 10, 64 << 10, 1 << 20} {
		for _, block := range []int{8, 256} {
			for _, way := range []string{"cursor", "hand", "contiguous"} {
				b.Run(fmt.Sprintf("size=%d/block=%d/way=%s", size, block, way), func(b *testing.B) {
					benchmarkStrided(b, size, block, way)
				})
			}
		}
	}
}

func benchmarkStrided(b *testing.B, size, block int, way string) {
	j := jobOver(b, shmConduits(b, 2), Config{})
	b.SetBytes(int64(size))
	other := make(chan error, 1)
	turns := func(s *Server, n int) (err error) {
		out, in, flat := newStrided(size, block, block), newStrided(size, block, block), make([]byte, size)
		for i := range n {
			if i%2 == s.rank {
				err = errors.Join(err, sendStrided(s, way, out, flat))
			} else {
				err = errors.Join(err, recvStrided(s, way, in, flat))
			}
		}
		return err
	}
	n := b.N
	go func() { other <- turns(j[1], n) }()
	if err := errors.Join(turns(j[0], n), <-other); err != nil {
		b.Fatal(err)
	}
}

func sendStrided(s *Server, way string, out *strided, flat []byte) error {
	switch way {
	case "cursor":
		return s.Send(1, 1-s.rank, 3, nil, &Options{Source: out})
	case "hand":
		out.Pack(flat, 0)
	}
	return s.Send(1, 1-s.rank, 3, flat, nil)
}

func recvStrided(s *Server, way string, in *strided, flat []byte) (err error) {
	if way == "cursor" {
		return second(s.Recv(1, 1-s.rank, 3, nil, &Options{Target: in}))
	}
	if err = second(s.Recv(1, 1-s.rank, 3, flat, nil)); way == "hand" {
		in.Unpack(flat, 0)
	}
	return err
}
