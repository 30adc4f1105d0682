package comm

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/shm"
)

// shmJob is a job over shared memory whose ranks are in this process.
func shmJob(t *testing.T, n int) job {
	t.Helper()
	return jobOver(t, shmConduits(t, n), Config{})
}

func shmConduits(t testing.TB, n int) []conduit.Conduit {
	t.Helper()
	if invariants.Race {
		t.Skip("the race detector does not see the order that mapped memory gives; ranks in one process use the local conduit there")
	}
	cs := make([]conduit.Conduit, n)
	errs := make([]error, n)
	local := make([]int, n)
	for i := range local {
		local[i] = i
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cs[i], errs[i] = shm.New(shm.Config{
				Rank: i, Size: n, Local: local, Key: "secret", Timeout: 10 * time.Second,
				JobID: fmt.Sprintf("comm-test-%d-%x", os.Getpid(), crc32.ChecksumIEEE([]byte(t.Name()))),
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return cs
}

// TestDirectCopies moves messages of random sizes in both directions at once, some into buffers that are too small. The
// two ranks copy the two halves of each.
func TestDirectCopies(t *testing.T) {
	j := shmJob(t, 2)
	if !canCopy(j[0]) {
		t.Skip("the kernel does not let one process reach another's memory here")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	j.run(t, func(s *Server) error {
		peer := 1 - s.Rank()
		r := rand.New(rand.NewPCG(seed, 0))
		for round := range 60 {
			n := 1 + r.IntN(1<<uint(10+r.IntN(12)))
			room := n + r.IntN(3)*n/3 - n/3
			out, in := make([]byte, n), make([]byte, max(room, 1))
			pattern(out, round)
			q, err := s.Isend(1, peer, round, out, &Options{Form: Nonblocking, Mode: Mode(round % 2)})
			if err != nil {
				return err
			}
			st, err := s.Recv(1, peer, round, in, nil)
			if short := len(in) < n; short != errors.Is(err, ErrTruncate) || (!short && err != nil) {
				return fmt.Errorf("%d bytes into %d: %v", n, len(in), err)
			}
			if _, err := s.Wait(q); err != nil {
				return err
			}
			if got := in[:st.Bytes]; !bytes.Equal(got, out[:len(got)]) {
				return fmt.Errorf("round %d: %d bytes arrived damaged", round, len(got))
			}
		}
		return nil
	})
	for _, s := range j {
		if n := s.ids.Used(); n != 0 {
			t.Errorf("rank %d: %d numbers are left", s.rank, n)
		}
	}
}

// TestGiveUpDirectly is TestGiveUp where bytes can be copied directly.
func TestGiveUpDirectly(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	giveUp(t, shmJob(t, 2), seed, false)
}

// TestBufferOfAnEndedReceiveStays: the server of a receive is closed before the sender has put its half of a direct
// copy. The sender still writes to the buffer. So the collector must not give its memory to others.
func TestBufferOfAnEndedReceiveStays(t *testing.T) {
	j := shmJob(t, 2)
	if !canCopy(j[0]) {
		t.Skip("the kernel does not let one process reach another's memory here")
	}
	data := bytes.Repeat([]byte{1}, vast)
	if _, err := j[0].Isend(1, 1, endings, data, nil); err != nil {
		t.Fatal(err)
	}
	var freed atomic.Bool
	var last weak.Pointer[byte]
	func() { // nothing of it stays on the stack
		buf := make([]byte, vast)
		runtime.AddCleanup(&buf[0], func(b *atomic.Bool) { b.Store(true) }, &freed)
		last = weak.Make(&buf[0])
		r, err := j[1].Irecv(1, 0, endings, buf, nil)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "the copy begins", func() bool { return number(j[1], r) != 0 }, j[1])
		j[1].Close()
		if _, err := j[1].Wait(r); !errors.Is(err, ErrClosed) {
			t.Errorf("the receive: %v", err)
		}
	}()
	for i := range 10 {
		runtime.GC()
		if time.Sleep(time.Millisecond); freed.Load() {
			t.Fatalf("the collector has freed the buffer after %d rounds", i+1)
		}
	}
	p := last.Value()
	if p == nil {
		t.Fatal("the buffer is gone")
	}
	// The sender does write, to the very end of the buffer.
	until(t, "the sender has put its half", func() bool { return unsafe.Slice(p, vast)[vast-1] == 1 }, j[0])
	runtime.KeepAlive(data)
}

func TestOverSharedMemory(t *testing.T) {
	j := shmJob(t, 3)
	j.run(t, func(s *Server) error {
		var wg sync.WaitGroup
		errs := make([]error, 2*len(j))
		for peer := range j {
			wg.Go(func() {
				for i, n := range sizes {
					b := make([]byte, n)
					pattern(b, i)
					if err := s.Send(1, peer, i, b, nil); err != nil {
						errs[2*peer] = err
						return
					}
				}
			})
			wg.Go(func() {
				for i, n := range sizes {
					b := make([]byte, n)
					if _, err := s.Recv(1, peer, i, b, nil); err != nil {
						errs[2*peer+1] = err
						return
					}
					if err := checkPattern(b, i); err != nil {
						errs[2*peer+1] = fmt.Errorf("%d bytes from rank %d: %w", n, peer, err)
						return
					}
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

func init() {
	networks["shm"] = func(t testing.TB, n int) []conduit.Conduit { return shmConduits(t, n) }
}
