package mmsg

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/affinity"
	"github.com/golci/golci/internal/topology"
)

// recvOne receives until a datagram has come or stop is set: it spins, or parks in between.
func recvOne(b *testing.B, s *Socket, in []Datagram, park bool, stop *atomic.Bool) int {
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

// pin gives the calling goroutine a thread on the i-th CPU, and leaves it there: the thread ends with the goroutine. Two that
// spin would else be put on one CPU now and then.
func pin(b *testing.B, i int) {
	cpus := topology.Usable()
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

func echo(b *testing.B, s *Socket, to netip.AddrPort, park bool, stop *atomic.Bool) {
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

// BenchmarkStream sends as fast as the receiver, another goroutine, takes: at most a window is under way, so that nothing is lost.
// One op is one datagram as the network would see it, that is, one segment where the kernel splits.
func BenchmarkStream(b *testing.B) {
	const jumbo = 60 << 10
	for _, c := range []struct {
		name             string
		size, segs, slot int
		gro              bool
	}{
		{"size=64/gso=false", 64, 1, 2048, false},
		{"size=1400/gso=false", 1400, 1, 2048, false},
		{"size=64/gso=true", 64, 64, 1 << 16, true},
		{"size=1400/gso=true", 1400, 46, 1 << 16, true},
		{"size=8192/gso=true", 8192, 7, 1 << 16, true},
		{"size=61440/gso=false", jumbo, 1, 1 << 16, false},
	} {
		b.Run(c.name, func(b *testing.B) { stream(b, c.size, c.segs, c.slot, c.gro) })
	}
}

func stream(b *testing.B, size, segs, slot int, gro bool) {
	o := Options{RecvBuffer: 8 << 20, SendBuffer: 8 << 20, GRO: gro}
	x, y := mustOpen(b, loopbacks["v4"], o), mustOpen(b, loopbacks["v4"], o)
	if segs > 1 && (!x.Info().GSO || !y.Info().GRO) {
		b.Skip("the kernel does not split and join segments")
	}
	var came atomic.Int64 // datagrams, segments counted; written by the receiver
	var stop atomic.Bool
	var wg sync.WaitGroup
	pin(b, 0)
	wg.Go(func() {
		pin(b, 1)
		in := buffers(32, slot)
		for !stop.Load() {
			n := recvOne(b, y, in, false, &stop)
			for i := range in[:n] {
				if d := &in[i]; d.Segment > 0 {
					came.Add(int64((d.N + d.Segment - 1) / d.Segment))
				} else {
					came.Add(1)
				}
			}
		}
	})
	out := buffers(max(1, min(32, 16<<16/(size*segs))), size*segs)
	for i := range out {
		out[i].Addr = y.Info().Addr
		if segs > 1 {
			out[i].Segment = size
		}
	}
	window := int64(max(2, (4<<20)/(size*segs+2048)) * segs)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	for sent := int64(0); sent < int64(b.N); {
		if sent-came.Load() >= window {
			continue
		}
		n, err := x.Send(out)
		if err != nil {
			b.Fatal(err)
		}
		sent += int64(n * segs)
		for sent >= int64(b.N) && came.Load() < sent && y.Dropped() == 0 {
		}
	}
	b.StopTimer()
	stop.Store(true)
	wg.Wait()
	b.ReportMetric(float64(y.Dropped()), "lost")
}
