package realm

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/rank"
)

// inTask runs f as a task of a rank that is alone.
func inTask(b *testing.B, f func(c *Ctx)) { inTaskWith(b, rank.Config{}, f) }

func inTaskWith(b *testing.B, cfg rank.Config, f func(c *Ctx)) {
	err := RunWith(1, cfg, func(rt *Runtime) error {
		return rt.Wait(context.Background(), SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
			f(c)
			return nil
		}))
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkCreateTrigger(b *testing.B) {
	inTask(b, func(c *Ctx) {
		for b.Loop() {
			_ = c.Runtime().NewUserEvent().Trigger(NoEvent)
		}
	})
}

func BenchmarkChain(b *testing.B) {
	for _, n := range []int{1024, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			inTask(b, func(c *Ctx) {
				rt := c.Runtime()
				chain := make([]UserEvent, n+1)
				for b.Loop() {
					b.StopTimer()
					for i := range chain {
						chain[i] = rt.NewUserEvent()
					}
					for i := range n {
						_ = chain[i+1].Trigger(chain[i].Event())
					}
					b.StartTimer()
					_ = chain[0].Trigger(NoEvent)
					_ = c.Wait(chain[n].Event())
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}

func BenchmarkMerge3(b *testing.B) {
	inTask(b, func(c *Ctx) {
		rt := c.Runtime()
		var u [3]UserEvent
		for b.Loop() {
			for i := range u {
				u[i] = rt.NewUserEvent()
			}
			_ = rt.Merge(u[0].Event(), u[1].Event(), u[2].Event())
			for i := range u {
				_ = u[i].Trigger(NoEvent)
			}
		}
	})
}

type args40 struct{ A, B, C, D, E int64 }

var nothing = Register("nothing", func(*Ctx, args40) error { return nil })

func BenchmarkSpawn(b *testing.B) {
	const n = 1024
	b.Run("precondition", func(b *testing.B) {
		inTask(b, func(c *Ctx) {
			rt := c.Runtime()
			for b.Loop() {
				u := rt.NewUserEvent()
				var last Event
				for range n {
					last = Spawn(c, c.Processor(), nothing, args40{}, After(u.Event()))
				}
				b.StopTimer()
				_ = u.Trigger(NoEvent)
				_ = c.Wait(last)
				b.StartTimer()
			}
		})
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
	})
	b.Run("run", func(b *testing.B) {
		inTask(b, func(c *Ctx) {
			rt := c.Runtime()
			for b.Loop() {
				b.StopTimer()
				u := rt.NewUserEvent()
				var last Event
				for range n {
					last = Spawn(c, c.Processor(), nothing, args40{}, After(u.Event()))
				}
				b.StartTimer()
				_ = u.Trigger(NoEvent)
				_ = c.Wait(last)
			}
		})
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
	})
	b.Run("chain", func(b *testing.B) {
		inTask(b, func(c *Ctx) {
			rt := c.Runtime()
			for b.Loop() {
				b.StopTimer()
				u := rt.NewUserEvent()
				last := u.Event()
				for range n {
					last = Spawn(c, c.Processor(), nothing, args40{}, After(last))
				}
				b.StartTimer()
				_ = u.Trigger(NoEvent)
				_ = c.Wait(last)
			}
		})
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
	})
}

// BenchmarkTold spawns tasks and runs them: with nobody told of it, with a profile of each, and on a timeline.
func BenchmarkTold(b *testing.B) {
	const n = 1024
	for _, how := range []string{"none", "profile", "timeline"} {
		b.Run(how, func(b *testing.B) {
			var cfg rank.Config
			if how == "timeline" {
				cfg.Settings = map[string]string{settings.Trace.Env(): filepath.Join(b.TempDir(), "%r.part")}
			}
			inTaskWith(b, cfg, func(c *Ctx) {
				rt := c.Runtime()
				var told []Option
				if how == "profile" {
					told = append(told, Profile(rt.NewProfiler(func([]OperationProfile) {})))
				}
				for b.Loop() {
					var last Event
					for range n {
						last = Spawn(c, c.Processor(), nothing, args40{}, told...)
					}
					_ = c.Wait(last)
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
		})
	}
}

func BenchmarkFan(b *testing.B) {
	for _, fan := range []int{16, 64} {
		b.Run(fmt.Sprint(fan), func(b *testing.B) {
			const n = 64
			inTask(b, func(c *Ctx) {
				rt := c.Runtime()
				src := make([]UserEvent, n)
				for b.Loop() {
					b.StopTimer()
					for i := range src {
						src[i] = rt.NewUserEvent()
						for range fan {
							_ = rt.NewUserEvent().Trigger(src[i].Event())
						}
					}
					b.StartTimer()
					for i := range src {
						_ = src[i].Trigger(NoEvent)
					}
				}
			})
			b.ReportMetric(float64(b.N*n*fan)/float64(b.Elapsed().Nanoseconds())*1000, "Mtriggers/s")
		})
	}
}
