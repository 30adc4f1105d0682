package realm

import (
	"testing"
	"time"
)

// inJob runs f as the benchmark's only rank.
func inJob(b *testing.B, f func(rt *Runtime)) {
	if err := Run(1, func(rt *Runtime) error { f(rt); return nil }); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReservation(b *testing.B) {
	inJob(b, func(rt *Runtime) {
		r, _ := NewReservation[[64]byte](rt)
		for b.Loop() {
			r.Acquire(Exclusive, NoEvent)
			_ = r.Release(NoEvent)
		}
	})
}

func BenchmarkFastReservation(b *testing.B) {
	inJob(b, func(rt *Runtime) {
		f := rt.NewFastReservation()
		for b.Loop() {
			f.Lock(Exclusive)
			_ = f.Unlock()
		}
	})
}

// BenchmarkReservationChain is a grant in a chain of deferred acquires and releases of one reservation.
func BenchmarkReservationChain(b *testing.B) {
	const length = 256
	inJob(b, func(rt *Runtime) {
		r, _ := NewReservation[struct{}](rt)
		var run time.Duration
		for b.Loop() {
			gate := rt.NewUserEvent()
			r.Acquire(Exclusive, NoEvent)
			_ = r.Release(gate.Event())
			last := NoEvent
			for range length {
				last = r.Acquire(Exclusive, NoEvent)
				_ = r.Release(last)
			}
			start := time.Now()
			_ = gate.Trigger(NoEvent)
			run += time.Since(start)
			if done, _ := rt.HasTriggered(last); !done {
				b.Fatal("the chain has not ended")
			}
		}
		b.ReportMetric(float64(run)/float64(b.N)/length, "ns/grant")
		b.ReportMetric(0, "ns/op")
	})
}
