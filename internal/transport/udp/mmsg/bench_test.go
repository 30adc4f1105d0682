package mmsg

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/affinity"
)

// recvOne receives until a datagram has come or stop is set: it spins, or parks in between.
func recvOne(b *testing.B, s Socket, in []Datagram, park bool, stop *atomic.Bool) int {
	for {
		n, err := s.Recv(in)
		if err != nil {
			b.Error(err)
			return 0
		}
		if n > 0 || stop.Load() {
			return n
		}
		if park {
			s.Wait(time.Time{})
		}
	}
}

// pin gives the calling goroutine a thread on the i-th CPU, and leaves it there: the thread ends with the goroutine.
// Two that spin would else be put on one CPU now and then.
func pin(b *testing.B, i int) {
	cpus := affinity.Get()
	if len(cpus) < 2 {
		return
	}
	runtime.LockOSThread()
	if err := affinity.Set(cpus[i]); err != nil {
		b.Error(err)
	}
}

// BenchmarkPingPong is a round trip of 8 bytes between two goroutines: halve it for one way.
func BenchmarkPingPong(b *testing.B) {
	for _, c := range []struct {
		family         string
		portable, park bool
	}{{"v4", false, false}, {"v6", false, false}, {"v4", false, true}, {"v4", true, true}} {
		b.Run(fmt.Sprintf("ip=%s/portable=%v/park=%v/size=8", c.family, c.portable, c.park), func(b *testing.B) {
			o := Options{Portable: c.portable}
			x, y := mustOpen(b, loopbacks[c.family], o), mustOpen(b, loopbacks[c.family], o)
			var stop atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				if !c.park {
					pin(b, 1)
				}
				echo(b, y, x.Info().Addr, c.park, &stop)
			})
			if !c.park {
				pin(b, 0)
			}
			out, in := buffers(1, 8), buffers(16, 64)
			out[0].Addr = y.Info().Addr
			b.ReportAllocs()
			for b.Loop() {
				sendAll(b, x, out)
				recvOne(b, x, in, c.park, &stop)
			}
			stop.Store(true)
			y.Wake()
			wg.Wait()
		})
	}
}

func echo(b *testing.B, s Socket, to netip.AddrPort, park bool, stop *atomic.Bool) {
	in, out := buffers(16, 64), make([]Datagram, 1)
	for !stop.Load() {
		n := recvOne(b, s, in, park, stop)
		for i := range in[:n] {
			out[0] = Datagram{Buf: in[i].Buf[:in[i].N], Addr: to}
			if _, err := s.Send(out); err != nil {
				b.Error(err)
				return
			}
		}
	}
}
