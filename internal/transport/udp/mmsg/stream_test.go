package mmsg

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// load is a stream in one direction.
type load struct {
	size    int // bytes of a datagram as the network would see it
	segs    int // how many of them the kernel makes of one buffer
	gro     bool
	batch   int // buffers in one Send and one Recv; 0: 32, or what makes a megabyte
	queue   int // bytes of the receiver's queue, asked for; 0: 8 MiB
	head    int // so many bytes in Buf, the rest in Tail; 0: all in Buf
	gather  bool
	working int // bytes of memory that the sender goes round in; 0: one batch
}

const jumbo = 60 << 10

// BenchmarkStream sends as fast as the receiver, another goroutine, takes: at most a window is under way, so that
// nothing is lost. One op is one datagram as the network would see it, that is, one segment where the kernel splits.
func BenchmarkStream(b *testing.B) {
	for _, l := range []load{
		{size: 64},
		{size: 1400},
		{size: 64, segs: 64, gro: true},
		{size: 1400, segs: 46, gro: true},
		{size: 8192, segs: 7, gro: true},
		{size: jumbo},
	} {
		b.Run(l.name(), l.run)
	}
}

// BenchmarkTail is a datagram of 60 KiB whose header lies with it, apart from it, and apart but copied together before.
func BenchmarkTail(b *testing.B) {
	for _, l := range []load{{size: jumbo}, {size: jumbo, head: 64}, {size: jumbo, head: 64, gather: true}} {
		b.Run(fmt.Sprintf("head=%d/gather=%v", l.head, l.gather), l.run)
	}
}

// BenchmarkLargest looks for the most that this machine takes from one core to another: one thing is changed at a time.
func BenchmarkLargest(b *testing.B) {
	for _, size := range []int{4 << 10, 8 << 10, 15 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10, jumbo, MaxPayload} {
		b.Run(fmt.Sprintf("size=%d", size), load{size: size}.run)
	}
	for _, size := range []int{1400, 4 << 10, 8 << 10, 15 << 10, 16 << 10, 20 << 10, 24 << 10, 30 << 10} {
		b.Run(fmt.Sprintf("size=%d/gso=%d", size, MaxPayload/size), load{size: size, segs: MaxPayload / size, gro: true}.run)
	}
	for _, batch := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("size=%d/batch=%d", jumbo, batch), load{size: jumbo, batch: batch}.run)
	}
	for _, queue := range []int{200 << 10, 512 << 10, 1 << 20, 2 << 20, 32 << 20} {
		b.Run(fmt.Sprintf("size=%d/batch=4/queue=%d", jumbo, queue), load{size: jumbo, batch: 4, queue: queue}.run)
	}
	for _, working := range []int{4 << 20, 64 << 20} {
		b.Run(fmt.Sprintf("size=%d/batch=4/working=%d", jumbo, working), load{size: jumbo, batch: 4, queue: 1 << 20, working: working}.run)
	}
}

func (l load) name() string { return fmt.Sprintf("size=%d/gso=%v", l.size, l.gro) }

func (l load) run(b *testing.B) {
	l.segs = max(1, l.segs)
	if l.queue == 0 {
		l.queue = 8 << 20
	}
	if l.batch == 0 {
		l.batch = max(1, min(32, (1<<20)/(l.size*l.segs)))
	}
	x := mustOpen(b, loopbacks["v4"], Options{SendBuffer: 8 << 20})
	y := mustOpen(b, loopbacks["v4"], Options{RecvBuffer: l.queue, GRO: l.gro})
	if l.segs > 1 && (!x.Info().GSO || !y.Info().GRO) {
		b.Skip("the kernel does not split and join segments")
	}
	var came atomic.Int64 // datagrams, segments counted; written by the receiver
	var stop atomic.Bool
	var wg sync.WaitGroup
	pin(b, 0)
	wg.Go(func() {
		pin(b, 1)
		l.sink(b, y, &came, &stop)
	})
	b.SetBytes(int64(l.size))
	b.ReportAllocs()
	l.source(b, x, y, &came)
	stop.Store(true)
	wg.Wait()
	b.ReportMetric(float64(y.Dropped()), "lost")
}

// parts makes n datagrams with room for one buffer each.
func (l load) parts(n, size int) []Datagram {
	batch := buffers(n, size)
	for i := range batch {
		if d := &batch[i]; l.head > 0 {
			d.Buf, d.Tail = make([]byte, l.head), d.Buf[l.head:]
		}
	}
	return batch
}

// sink receives until stop is set.
func (l load) sink(b *testing.B, y Socket, came *atomic.Int64, stop *atomic.Bool) {
	in := l.parts(l.batch, max(2048, min(1<<16, 2*l.size*l.segs)))
	for !stop.Load() {
		n := recvOne(b, y, in, false, stop)
		sum := 0
		for i := range in[:n] {
			if d := &in[i]; d.Segment > 0 {
				sum += (d.N + d.Segment - 1) / d.Segment
			} else {
				sum++
			}
		}
		came.Add(int64(sum))
	}
}

// source sends b.N datagrams and waits until they came, or some are lost.
func (l load) source(b *testing.B, x, y Socket, came *atomic.Int64) {
	whole := l.size * l.segs
	out := l.parts(max(l.batch, l.working/whole/l.batch*l.batch), whole)
	for i := range out {
		out[i].Addr = y.Info().Addr
		if l.segs > 1 {
			out[i].Segment = l.size
		}
	}
	one, gathered := make([]byte, whole), make([]Datagram, 1)
	// The kernel doubles what is asked for, and counts what a datagram takes with its own memory around: up to a
	// third more.
	window := int64(max(1, l.queue/(whole+whole/3+2048)) * l.segs)
	b.ResetTimer()
	for sent, at := int64(0), 0; sent < int64(b.N); {
		if sent-came.Load() >= window {
			continue
		}
		part := out[at : at+min(l.batch, int(window)/l.segs)]
		if l.gather {
			d := &part[0]
			copy(one[copy(one, d.Buf):], d.Tail)
			gathered[0] = Datagram{Buf: one, Addr: d.Addr}
			part = gathered
		}
		n, err := x.Send(part)
		if err != nil {
			b.Fatal(err)
		}
		sent += int64(n * l.segs)
		at = (at + l.batch) % len(out)
		for sent >= int64(b.N) && came.Load() < sent && y.Dropped() == 0 {
		}
	}
	b.StopTimer()
}
