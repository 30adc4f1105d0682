package shm

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

// group starts the ranks from first on, which start together, of a job of five of which two start with it.
func group(t *testing.T, job string, first, n int) []conduit.Conduit {
	t.Helper()
	all, errs := make([]conduit.Conduit, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			all[i], errs[i] = New(Config{
				Rank: first + i, Size: 5, JobID: job, Key: "secret", Local: ranks(5), First: first, Count: n, Late: 2,
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range all {
			_ = c.Close()
		}
	})
	return all
}

// heard notes who has sent, and who is gone.
type heard struct {
	from map[int]int
	gone map[int]error
}

func (h *heard) Record(src int, _ []byte)        { h.from[src]++ }
func (h *heard) Bulk(int, uint64, int64, []byte) {}
func (h *heard) Gone(peer int, err error)        { h.gone[peer] = err }
func (h *heard) until(c conduit.Conduit, ok func() bool) bool {
	for end := time.Now().Add(time.Minute); !ok(); {
		if c.Poll(16, h); time.Now().After(end) {
			return false
		}
	}
	return true
}

// exchanged has each of the ranks send a record to each other one.
func exchanged(t *testing.T, all ...conduit.Conduit) {
	t.Helper()
	for _, c := range all {
		for _, d := range all {
			if _, st := c.Reserve(d.Rank(), conduit.Request, 16); st != conduit.OK {
				t.Fatalf("rank %d to rank %d: %v, %v", c.Rank(), d.Rank(), st, c.Failed(d.Rank()))
			}
			c.Commit(d.Rank(), 16)
		}
	}
	for _, c := range all {
		h := &heard{map[int]int{}, map[int]error{}}
		if !h.until(c, func() bool { return len(h.from) == len(all) }) {
			t.Fatalf("rank %d has heard %v of %d ranks", c.Rank(), h.from, len(all))
		}
	}
}

// TestLateRanks has ranks come in two groups, when others have started, and one has ended.
func TestLateRanks(t *testing.T) {
	job := newJob()
	first := group(t, job, 0, 2)
	exchanged(t, first...)
	mem, err := endOf(first[0]).Allocate(8192)
	if err != nil {
		t.Fatal(err)
	}
	copy(mem[4096:], "allocated before")

	second := group(t, job, 2, 2)
	exchanged(t, first[0], first[1], second[0], second[1])
	for _, c := range second {
		key := conduit.Key{Base: address(mem), Size: 8192}
		var got []byte
		for end := time.Now().Add(time.Minute); got == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
			if got, _, err = endOf(c).Map(0, key); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(got[4096:], []byte("allocated before")) {
			t.Errorf("rank %d does not see what rank 0 has allocated before", c.Rank())
		}
		for peer := range 4 {
			if peer != c.Rank() && endOf(c).reaches(peer) != endOf(first[0]).reaches(1) {
				t.Errorf("rank %d reaches the memory of rank %d: %t", c.Rank(), peer, endOf(c).reaches(peer))
			}
		}
	}

	if err := first[1].Close(); err != nil {
		t.Fatal(err)
	}
	third := group(t, job, 4, 1)
	exchanged(t, first[0], second[0], second[1], third[0])
	if err := third[0].Failed(1); !errors.Is(err, conduit.ErrPeerClosed) {
		t.Errorf("a rank that had ended: %v", err)
	}
	if err := third[0].Close(); err != nil {
		t.Fatal(err)
	}
	h := &heard{map[int]int{}, map[int]error{}}
	if !h.until(first[0], func() bool { return h.gone[4] != nil }) || !errors.Is(h.gone[4], conduit.ErrPeerClosed) {
		t.Errorf("rank 0 is told of the end of a late rank: %v", h.gone)
	}
}

// TestStrangerAtTheDoor calls a rank that takes late ones.
func TestStrangerAtTheDoor(t *testing.T) {
	job := newJob()
	first := group(t, job, 0, 2)
	cfg := Config{JobID: job, Key: "secret"}
	for _, words := range [][]byte{
		[]byte("hello?"), hello{from: 3, to: 0}.encode("Secret"),
		hello{from: 1, to: 0}.encode("secret"),
	} {
		c := dialed(t, socketName(&cfg, 0))
		if err := sendPacket(c, words, nil); err != nil {
			t.Fatal(err)
		}
		if b, f, err := receivePacket(c); err == nil || f != nil {
			t.Errorf("the answer to %q is %q, %v", words, b, f)
		}
		_ = c.Close()
	}
	exchanged(t, append(first, group(t, job, 2, 1)...)...)
}

func dialed(t *testing.T, addr *net.UnixAddr) *net.UnixConn {
	t.Helper()
	c, err := net.DialUnix("unixpacket", nil, addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
