package shm

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
)

// pin binds the calling goroutine's thread to a core.
func pin(core int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	_ = unix.SchedSetaffinity(0, &set) // a benchmark without binding is only less steady
}

type pong struct{ got uint64 }

func (p *pong) Record(int, []byte)                      { p.got++ }
func (p *pong) Bulk(_ int, _ uint64, _ int64, b []byte) { p.got += uint64(len(b)) }

// Gone implements conduit.Sink.
func (*pong) Gone(int, error) {}

func put(c conduit.Conduit, peer, n int) bool {
	space, st := c.Reserve(peer, conduit.Request, n)
	if st != conduit.OK {
		return false
	}
	for i := 8; i < n; i += 8 {
		space[i] = 1
	}
	c.Commit(peer, uint64(n))
	return true
}

func spinEcho(c conduit.Conduit) {
	pin(1)
	p := &pong{}
	for n, idle := uint64(0), 0; ; {
		if c.Poll(16, p); p.got == n {
			if idle++; idle%4096 == 0 && c.Failed(0) != nil {
				return
			}
			arch.Pause()
			continue
		}
		for ; n < p.got; n++ {
			put(c, 0, 16)
		}
	}
}

func swallow(c conduit.Conduit) {
	pin(1)
	p := &pong{}
	for idle := 0; ; idle++ {
		if c.Poll(64, p) == 0 && idle%4096 == 0 && c.Failed(0) != nil {
			return
		}
	}
}

// crossing is the time in nanoseconds that one cache line takes between two cores.
func crossing() float64 {
	const rounds = 200_000
	var turn atomic.Uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		pin(1)
		defer runtime.UnlockOSThread()
		for i := uint64(1); i < 2*rounds; i += 2 {
			for turn.Load() != i {
				arch.Pause()
			}
			arch.StoreRel64(&turn, i+1)
		}
	}()
	start := time.Now()
	for i := uint64(0); i < 2*rounds; i += 2 {
		arch.StoreRel64(&turn, i+1)
		for turn.Load() != i+2 {
			arch.Pause()
		}
	}
	<-done
	return float64(time.Since(start).Nanoseconds()) / (2 * rounds)
}

func BenchmarkPingPong(b *testing.B) {
	pin(0)
	before := crossing()
	cmd, c := startChild(b, "pingpong", conduit.Config{})
	p := &pong{}
	b.ResetTimer()
	for i := range uint64(b.N) {
		put(c, 1, 16)
		for p.got == i {
			c.Poll(16, p)
			arch.Pause()
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "one-way-ns")
	finish(b, c, cmd.Wait)
	b.ReportMetric((before+crossing())/2, "crossing-ns")
}

func BenchmarkFlood(b *testing.B) {
	for _, size := range []int{16, 64, 128, 1024, 8192} {
		b.Run("size="+strconv.Itoa(size), func(b *testing.B) {
			pin(0)
			cmd, c := startChild(b, "sink", conduit.Config{})
			b.SetBytes(int64(size))
			b.ResetTimer()
			for n := 0; n < b.N; {
				if put(c, 1, size) {
					n++
				}
			}
			b.StopTimer()
			finish(b, c, cmd.Wait)
			b.ReportMetric(crossing(), "crossing-ns")
		})
	}
}

func BenchmarkBulk(b *testing.B) {
	const size = 1 << 20
	data := make([]byte, size)
	for _, chunk := range []int{16 << 10, 32 << 10, 64 << 10} {
		for _, slots := range []int{4, 8, 16} {
			b.Run("chunk="+strconv.Itoa(chunk)+"/slots="+strconv.Itoa(slots), func(b *testing.B) {
				pin(0)
				b.Setenv(chunkEnv, strconv.Itoa(chunk))
				b.Setenv(slotsEnv, strconv.Itoa(slots))
				cmd, c := startChild(b, "bulk", conduit.Config{BulkChunk: chunk, BulkSlots: slots})
				b.SetBytes(size)
				b.ResetTimer()
				for range b.N {
					for off := 0; off < size; {
						n, _ := c.BulkSend(1, 1, int64(off), data[off:], nil)
						off += max(n, 0)
					}
				}
				b.StopTimer()
				finish(b, c, cmd.Wait)
			})
		}
	}
}

const (
	chunkEnv = "GOLCI_SHM_TEST_CHUNK"
	slotsEnv = "GOLCI_SHM_TEST_SLOTS"
)

// bulkConfig is the child's part of what BenchmarkBulk sets.
func bulkConfig() (cfg conduit.Config) {
	cfg.BulkChunk, _ = strconv.Atoi(os.Getenv(chunkEnv)) // 0 without one, the default
	cfg.BulkSlots, _ = strconv.Atoi(os.Getenv(slotsEnv))
	return cfg
}

type copier struct{ into []byte }

func (k *copier) Record(int, []byte) {}

// Gone implements conduit.Sink.
func (*copier) Gone(int, error) {}

func (k *copier) Bulk(_ int, _ uint64, off int64, b []byte) {
	copy(k.into[off:], b)
}

// swallowBulk copies what comes into one buffer of its own.
func swallowBulk(c conduit.Conduit) {
	pin(1)
	k := &copier{into: make([]byte, 1<<20)}
	for idle := 0; ; idle++ {
		if c.Poll(64, k) == 0 && idle%4096 == 0 && c.Failed(0) != nil {
			return
		}
	}
}

func finish(b *testing.B, c conduit.Conduit, wait func() error) {
	if err := c.Close(); err != nil {
		b.Error(err)
	}
	if err := wait(); err != nil {
		b.Error(err)
	}
	runtime.UnlockOSThread()
}
