package mpi

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

var sizes = []int{0, 1, 8, 63, 64, 65, 1000, 8 << 10, 16 << 10, 16<<10 + 1, 100_003}

// TestEveryCaller has goroutines, locked threads and light-weight threads of all ranks exchange messages of all sizes
// with all ranks, themselves included, at once.
func TestEveryCaller(t *testing.T) {
	for _, n := range upToEight() {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			must(t, n, func(c *Comm) error {
				return everyWay(c, func(way int) error { return allPairs(c, way) })
			})
		})
	}
}

func TestEveryCallerTinyQueues(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		return everyWay(c, func(way int) error { return allPairs(c, way) })
	}, withConduit(func(cfg *conduit.Config) { cfg.TinyQueues = true }))
}

func TestEveryCallerDedicated(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		return everyWay(c, func(way int) error { return allPairs(c, way) })
	}, WithServer("dedicated"))
}

func allPairs(c *Comm, way int) error {
	n, me := c.Size(), c.Rank()
	for k, size := range sizes {
		tag := 100*way + k
		for d := range n {
			to, from := (me+d)%n, (me-d+n)%n
			in := make([]byte, size)
			r, err := Irecv(c, in, from, tag)
			if err != nil {
				return err
			}
			if err := sendSomehow(c, pattern(size, me, to, tag), to, tag); err != nil {
				return err
			}
			st, err := r.Wait()
			if err != nil {
				return err
			}
			if st.Source != from || st.Tag != tag || st.Bytes() != int64(size) {
				return fmt.Errorf("status %+v, want source %d, tag %d, %d bytes", st, from, tag, size)
			}
			if err := checkPattern(in, from, me, tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendSomehow uses another kind of send for each tag.
func sendSomehow(c *Comm, b []byte, to, tag int) error {
	start := Isend[byte]
	switch tag % 4 {
	case 0:
		return Send(c, b, to, tag)
	case 1:
		return Ssend(c, b, to, tag)
	case 2:
		start = Issend[byte]
	}
	r, err := start(c, b, to, tag)
	if err != nil {
		return err
	}
	_, err = r.Wait()
	return err
}

// TestOrder: messages of one pair and tag arrive in order, whatever their sizes; tags can be taken out of order.
func TestOrder(t *testing.T) {
	seed := source(t)
	const count = 400
	must(t, 2, func(c *Comm) error {
		rnd := random(seed, 0)
		if c.Rank() == 0 {
			rs := make([]Request, count)
			for i := range rs {
				b := make([]int, 1+rnd.IntN(3)*rnd.IntN(2000))
				b[0] = i
				var err error
				if rs[i], err = Isend(c, b, 1, i%2); err != nil {
					return err
				}
			}
			return Waitall(rs, nil)
		}
		for _, odd := range []int{1, 0} {
			for i := odd; i < count; i += 2 {
				b, _, err := RecvAlloc[int](c, 0, odd)
				if err != nil {
					return err
				}
				if b[0] != i {
					return fmt.Errorf("got message %d, want %d", b[0], i)
				}
			}
		}
		return nil
	})
}

func TestTruncation(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		for _, size := range []int{10, 5000, 50_000} { // in the op, in a packet, by rendezvous
			b := pattern(size, 0, 1, 0)
			if c.Rank() == 0 {
				if err := errors.Join(Send(c, b, 1, 5), Ssend(c, b, 1, 5)); err != nil {
					return err
				}
				continue
			}
			for range 2 {
				in := make([]byte, size-1)
				st, err := Recv(c, in, 0, 5)
				if !errors.Is(err, ErrTruncate) {
					return fmt.Errorf("%d bytes into %d: %v", size, size-1, err)
				}
				if st.Bytes() != int64(size-1) || checkPattern(in, 0, 1, 0) != nil {
					return fmt.Errorf("status %+v after a truncation at %d", st, size-1)
				}
			}
		}
		return nil
	})
}

func TestShorterThanBuffer(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := Send(c, []int32{1, 2, 3}, 0, 0); err != nil {
			return err
		}
		in := []int32{9, 9, 9, 9, 9}
		st, err := Recv(c, in, 0, 0)
		if err != nil {
			return err
		}
		n, err := Count[int32](st)
		if n != 3 || err != nil || in[2] != 3 || in[3] != 9 {
			return fmt.Errorf("count %d, %v, %v", n, err, in)
		}
		if _, err := Count[int64](st); !errors.Is(err, ErrCount) {
			return fmt.Errorf("12 bytes as int64: %v", err)
		}
		return nil
	})
}

// point has padding, an array and a struct inside.
type point struct {
	Tag  uint8
	At   [3]float64
	Kind struct {
		A, B int16
		On   bool
	}
}

func TestStructs(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		v := []point{{Tag: 1, At: [3]float64{1, 2, 3}}, {Tag: 2}}
		v[1].Kind.B, v[1].Kind.On = -5, true
		if c.Rank() == 0 {
			return Send(c, v, 1, 0)
		}
		in := make([]point, 2)
		st, err := Recv(c, in, 0, 0)
		if err != nil {
			return err
		}
		if n, err := Count[point](st); n != 2 || err != nil || in[0] != v[0] || in[1] != v[1] {
			return fmt.Errorf("got %+v, count %d, %v", in, n, err)
		}
		return nil
	})
}

func TestEmptyElements(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := Send(c, make([]struct{}, 5), 0, 0); err != nil {
			return err
		}
		b, st, err := RecvAlloc[struct{}](c, 0, 0)
		if err != nil || st.Bytes() != 0 || len(b) != 0 {
			return fmt.Errorf("%v %v %v", b, st, err)
		}
		return nil
	})
}

func TestRecvAllocOddLength(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := Send(c, []byte("seven b"), 0, 0); err != nil {
			return err
		}
		b, _, err := RecvAlloc[int32](c, AnySource, AnyTag)
		if !errors.Is(err, ErrCount) || len(b) != 1 {
			return fmt.Errorf("%v %v", b, err)
		}
		return nil
	}, With("GOLCI_CHECK", "off"))
}

func TestNullProcess(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := errors.Join(Send(c, []int{1}, ProcNull, 0), Ssend(c, []int{1}, ProcNull, 0)); err != nil {
			return err
		}
		in := []int{7}
		st, err := Recv(c, in, ProcNull, 3)
		if st != nullStatus || err != nil || in[0] != 7 {
			return fmt.Errorf("recv: %+v %v %v", st, err, in)
		}
		r, err := Irecv(c, in, ProcNull, AnyTag)
		if err != nil {
			return err
		}
		if st, err := r.Wait(); st != nullStatus || err != nil {
			return fmt.Errorf("irecv: %+v %v", st, err)
		}
		s, err := Isend(c, in, ProcNull, 0)
		if err != nil {
			return err
		}
		if st, err := s.Wait(); st != empty || err != nil {
			return fmt.Errorf("isend: %+v %v", st, err)
		}
		st, err = Sendrecv(c, in, ProcNull, 0, []int{1}, ProcNull, 0)
		if st != nullStatus || err != nil {
			return fmt.Errorf("sendrecv: %+v %v", st, err)
		}
		if st, err := c.Probe(ProcNull, 0); st != nullStatus || err != nil {
			return fmt.Errorf("probe: %+v %v", st, err)
		}
		m, err := c.Mprobe(ProcNull, 0)
		if err != nil {
			return err
		}
		if st, err := Mrecv(m, in); st != nullStatus || err != nil {
			return fmt.Errorf("mrecv: %+v %v", st, err)
		}
		return nil
	})
}

func TestSendrecvRing(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		must(t, n, func(c *Comm) error {
			out, in := make([]float64, 5000), make([]float64, 5000)
			for round := range 20 {
				out[4999] = float64(100*c.Rank() + round)
				left := (c.Rank() + n - 1) % n
				if _, err := Sendrecv(c, out, (c.Rank()+1)%n, round, in, left, round); err != nil {
					return err
				}
				if want := float64(100*left + round); in[4999] != want {
					return fmt.Errorf("got %v, want %v", in[4999], want)
				}
			}
			return nil
		})
	}
}

// TestFlood: very many unmatched messages of one tag do not keep a receive of another from completing.
func TestFlood(t *testing.T) {
	count := 100_000
	if invariants.Race || testing.Short() {
		count = 10_000
	}
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			if _, err := Recv(c, []byte{0}, 0, 2); err != nil {
				return err
			}
			b := []int{0}
			for i := range count {
				if _, err := Recv(c, b, 0, 1); err != nil || b[0] != i {
					return fmt.Errorf("message %d is %d: %v", i, b[0], err)
				}
			}
			return nil
		}
		vals, rs := make([]int, count), make([]Request, 0, count+1)
		for i := range vals {
			vals[i] = i
			r, err := Isend(c, vals[i:i+1], 1, 1)
			if err != nil {
				return err
			}
			rs = append(rs, r)
		}
		r, err := Isend(c, []byte{1}, 1, 2)
		if err != nil {
			return err
		}
		return Waitall(append(rs, r), nil)
	}, WithUnexpected(64<<10))
}

// TestHuge sends more than 4 GiB; it needs 8.5 GiB of memory. The time that it may take is that of all tests: a busy
// machine needs minutes for so many new pages.
func TestHuge(t *testing.T) {
	const n = 4<<30 + 4099
	if testing.Short() || invariants.Race || freeMemory() < n*2+n/4 {
		t.Skip("needs 10 GiB of free memory, and time")
	}
	err := Run(2, func(c *Comm) error {
		b := make([]uint64, n/8)
		marks := []int{0, 1<<29 - 1, 1 << 29, len(b) - 1}
		if c.Rank() == 0 {
			for _, m := range marks {
				b[m] = uint64(m) + 1
			}
			return Send(c, b, 1, 0)
		}
		st, err := Recv(c, b, 0, 0)
		if err != nil {
			return err
		}
		for _, m := range marks {
			if b[m] != uint64(m)+1 {
				return fmt.Errorf("element %d is %d", m, b[m])
			}
		}
		if k, err := Count[uint64](st); k != len(b) || err != nil {
			return fmt.Errorf("count %d, %v", k, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRequestIsSmall(t *testing.T) {
	if s := unsafe.Sizeof(Request{}); s > 48 {
		t.Errorf("a Request has %d bytes", s)
	}
}
