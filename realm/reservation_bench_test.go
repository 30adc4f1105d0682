package realm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/comm/rank"
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

// BenchmarkLockChains is Realm's lock_chains: each chain takes one of the reservations after the other, at random.
func BenchmarkLockChains(b *testing.B) {
	const chains, depth = 64, 16
	for _, locks := range []int{32, 1024} {
		b.Run(fmt.Sprintf("locks=%d", locks), func(b *testing.B) {
			inJob(b, func(rt *Runtime) {
				rs := make([]Reservation[struct{}], locks)
				for i := range rs {
					rs[i], _ = NewReservation[struct{}](rt)
				}
				random := rand.New(rand.NewPCG(1, 2))
				var run time.Duration
				for b.Loop() {
					gate := rt.NewUserEvent()
					var ends []Event
					for range chains {
						last := gate.Event()
						for range depth {
							r := rs[random.IntN(locks)]
							last = r.Acquire(Exclusive, last)
							_ = r.Release(last)
						}
						ends = append(ends, last)
					}
					end := rt.Merge(ends...)
					start := time.Now()
					_ = gate.Trigger(NoEvent)
					_ = rt.Wait(context.Background(), end)
					run += time.Since(start)
				}
				b.ReportMetric(float64(run)/float64(b.N)/chains/depth, "ns/grant")
				b.ReportMetric(0, "ns/op")
			})
		})
	}
}

// BenchmarkReservationMoves has two ranks acquire one reservation by turns, each from a goroutine.
func BenchmarkReservationMoves(b *testing.B) {
	b.Run("payload=64", moves[[64]byte])
	b.Run("payload=4096", moves[[4096]byte])
}

func moves[T any](b *testing.B) {
	var over atomic.Bool
	var id atomic.Uint64
	err := RunWith(2, rank.Config{}, func(rt *Runtime) error {
		if rt.Rank() == 1 {
			if err := until(rt, func() bool { return id.Load() != 0 }); err != nil {
				return err
			}
			r := ReservationID[T](id.Load()).On(rt)
			for !over.Load() {
				if err := turn(rt, r); err != nil {
					return err
				}
			}
			return nil
		}
		defer over.Store(true)
		r, err := NewReservation[T](rt)
		if err != nil {
			return err
		}
		id.Store(uint64(r.ID()))
		start := r.epoch()
		for b.Loop() {
			if err := turn(rt, r); err != nil {
				return err
			}
		}
		b.ReportMetric(float64(b.Elapsed())/float64(max(1, r.epoch()-start)), "ns/move")
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func turn[T any](rt *Runtime, r Reservation[T]) error {
	err := rt.Wait(context.Background(), r.Acquire(Exclusive, NoEvent))
	rt.OfRank().Poll()
	return errors.Join(err, r.Release(NoEvent))
}

// epoch is how often the reservation has moved, as far as the rank knows.
func (r Reservation[T]) epoch() uint64 {
	r.c.lock.Lock()
	defer r.c.lock.Unlock()
	return r.c.core.Moves()
}
