package comm

import (
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// BenchmarkPath measures the instructions of the eager path, both ends on one goroutine, so without any crossing.
func BenchmarkPath(b *testing.B) {
	for name, f := range map[string]func(a, z *Server, in, out []byte) error{
		"send+poll+recv=unexpected":     pathUnexpected,
		"irecv+send+poll+wait=expected": pathExpected,
	} {
		b.Run(name, func(b *testing.B) {
			j := newJob(b, 2, conduit.Config{}, Config{})
			in, out := make([]byte, 8), make([]byte, 8)
			b.ReportAllocs()
			for range b.N {
				if err := f(j[0], j[1], in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func pathUnexpected(a, z *Server, in, out []byte) error {
	if err := a.Send(1, 1, 3, out, nil); err != nil {
		return err
	}
	z.Poll()
	_, err := z.Recv(1, 0, 3, in, nil)
	return err
}

func pathExpected(a, z *Server, in, out []byte) error {
	r, err := z.Irecv(1, 0, 3, in, nil)
	if err != nil {
		return err
	}
	if err := a.Send(1, 1, 3, out, nil); err != nil {
		return err
	}
	z.Poll()
	_, err = z.Wait(r)
	return err
}

func TestEagerPathDoesNotAllocate(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	j := newJob(t, 2, conduit.Config{}, Config{})
	for _, size := range []int{0, 8, 64, 1000, DefaultEager} {
		in, out := make([]byte, size), make([]byte, size)
		for _, f := range []func(a, z *Server, in, out []byte) error{pathUnexpected, pathExpected} {
			if n := testing.AllocsPerRun(2000, func() {
				if err := f(j[0], j[1], in, out); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%d bytes: %v allocations a message", size, n)
			}
		}
	}
}
