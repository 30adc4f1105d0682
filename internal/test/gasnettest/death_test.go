package gasnettest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/barrier"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/comm"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/progress"
)

// deathLimit is when a death must be known. It is far above what is promised, 100 ms, as machines stand still at times;
// the times taken are logged.
const deathLimit = 2 * time.Second

// handlerFlood is of requests that only take time.
const handlerFlood = 130

// TestDeathIsKnown: what waits for a peer that closes ends soon, however long waiters spin and whatever else arrives.
func TestDeathIsKnown(t *testing.T) {
	for _, net := range networks {
		if !slices.Contains([]string{"local", "bit-vector", "udp", "mixed", "shm", "mixed shm and udp"}, net.name) {
			continue
		}
		for _, spin := range []time.Duration{-1, progress.DefaultSpin, 30 * time.Second} {
			for _, flood := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/spin=%v/flood=%v", net.name, max(spin, 0), flood), func(t *testing.T) {
					newMourners(t, net, spin, flood).run()
				})
			}
		}
	}
}

// mourners are three ranks: 0 waits, in four ways, for 1, which closes, while 2 may flood 0.
type mourners struct {
	*testing.T
	cs     []conduit.Conduit
	ss     []*comm.Server
	bs     []*barrier.Barrier
	m      *rma.Memory // of rank 0
	flood  bool
	served atomic.Int64 // requests of the flood
	stop   atomic.Bool
}

func newMourners(t *testing.T, net network, spin time.Duration, flood bool) *mourners {
	j := &mourners{T: t, cs: net.make(t, 3, newSeed(t)), flood: flood}
	for i, c := range j.cs {
		e, err := am.New(c, am.Config{Loan: 100, Progress: progress.Config{Spin: spin}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := comm.New(e, comm.Config{})
		if err != nil {
			t.Fatal(err)
		}
		flooded := am.Spec{Name: "flood", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { j.served.Add(1) }}
		b, err := barrier.New(e)
		if err := errors.Join(err, e.Register(handlerFlood, flooded)); err != nil {
			t.Fatal(err)
		}
		m, err := rma.New(e, rma.Config{SegmentSize: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		if i == 0 {
			j.m = m
		}
		j.ss, j.bs = append(j.ss, s), append(j.bs, b)
	}
	return j
}

func (j *mourners) run() {
	var others, waiters sync.WaitGroup
	defer func() {
		j.stop.Store(true)
		others.Wait()
		for i, s := range j.ss {
			s.Close()
			if err := j.cs[i].Close(); err != nil {
				j.Error(err)
			}
		}
	}()
	for _, b := range []int{0, 2} {
		if err := j.bs[b].Notify(1, barrier.Named); err != nil {
			j.Fatal(err)
		}
	}
	others.Go(j.third)
	news := make(chan string, 4)
	for what, wait := range j.ways() {
		waiters.Go(func() {
			if err := wait(); err == nil {
				j.Errorf("%s ended without an error", what)
			}
			news <- what
		})
	}
	for start := time.Now(); time.Since(start) < 30*time.Millisecond || j.flood && j.served.Load() < 1000; {
		time.Sleep(time.Millisecond)
	}
	before := j.served.Load()
	start := time.Now()
	others.Go(func() {
		if err := j.cs[1].Close(); err != nil {
			j.Error(err)
		}
	})
	for range cap(news) {
		select {
		case what := <-news:
			j.Logf("%-8s %v", what, time.Since(start).Round(10*time.Microsecond))
		case <-time.After(deathLimit - time.Since(start)):
			j.Errorf("after %v something still waits", deathLimit)
			j.ss[0].Close() // ends what does
			j.m.Close()
			waiters.Wait()
			return
		}
	}
	j.Logf("%d requests of the flood were served meanwhile", j.served.Load()-before)
}

// ways are those in which rank 0 waits for rank 1.
func (j *mourners) ways() map[string]func() error {
	return map[string]func() error{
		"barrier": func() error { return j.bs[0].Wait(1, barrier.Named) },
		"receive": func() error {
			_, err := j.ss[0].Recv(1, 1, 1, make([]byte, 8), nil)
			return err
		},
		"probe": func() error {
			_, err := j.ss[0].Probe(1, 1, 2)
			return err
		},
		"counter": func() error { return j.m.WaitCounter(0, 1, 1) },
	}
}

// third is what rank 2 does.
func (j *mourners) third() {
	e := j.ss[2].Endpoint()
	for !j.stop.Load() {
		for n := 0; j.flood && n < 64; n++ {
			_, first, o := e.Open(0, handlerFlood, 0, 0)
			if o == am.Stalled {
				e.Abandon(0)
			}
			if o != am.Opened {
				break
			}
			e.Commit(0, first)
		}
		e.Poll()
		if runtime.Gosched(); !j.flood {
			time.Sleep(time.Millisecond)
		}
	}
}
