package gasnettest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/barrier"
	"github.com/golci/golci/am/hsl"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/fult"
)

const (
	hOp = 80 + iota
	hOpMedium
	hOpLong
	hOpDone
)

// Threads of a rank, of each kind.
const (
	goroutines  = 3
	osThreads   = 2
	fultThreads = 4
	allThreads  = goroutines + osThreads + fultThreads
	opLong      = 20 << 10
)

// crowd is a rank's state in testthreads and testcontend.
type crowd struct {
	done   [allThreads]atomic.Int64 // replies, by thread
	served *hsl.Lock
	count  int // requests served and local visits; guarded by served
}

func newCrowd(r *rank) *crowd {
	c := &crowd{served: r.locks.New("served")}
	serve := func(t *am.Token, a []uint64, data []byte) {
		if sum(a[:2], data) != a[2] {
			r.bad("operation %d of thread %d of rank %d: %d bytes damaged", a[1], a[0], t.Source(), len(data))
		}
		c.visit(r)
		r.ok(t.ReplyMedium(hOpDone, data[:min(len(data), 100)], a[0], uint64(len(data))))
	}
	for h := uint8(hOp); h < hOpDone; h++ {
		r.handle(h, 100, serve)
	}
	r.handle(hOpDone, am.NoReply, func(_ *am.Token, a []uint64, data []byte) {
		if len(data) != min(100, int(a[1])) {
			r.bad("reply of %d bytes, the request had %d", len(data), a[1])
		}
		c.done[a[0]].Add(1)
	})
	return c
}

// visit counts under the lock, for handlers and others.
func (c *crowd) visit(r *rank) {
	if err := c.served.Lock(); err != nil {
		r.bad("%v", err)
		return
	}
	c.count++
	r.ok(c.served.Unlock())
}

// actor is one thread of a crowd.
type actor struct {
	r     *rank
	c     *crowd
	id    int
	rng   *rand.Rand
	buf   []byte
	sent  int64
	visit int
	until func(ok func() bool) error
}

// act does one thing at random.
func (a *actor) act() error {
	r := a.r
	dst := a.rng.IntN(r.n)
	switch a.rng.IntN(9) {
	case 0:
		return a.request(hOp, dst, 0)
	case 1, 2:
		return a.request(hOpMedium, dst, a.rng.IntN(r.e.MaxMedium()+1))
	case 3:
		return a.request(hOpLong, dst, a.rng.IntN(opLong))
	case 4:
		a.visit++
		a.c.visit(r)
		return nil
	case 5:
		r.e.Poll()
		return nil
	case 6:
		r.e.Progress().Yield()
		return nil
	case 7:
		return a.putAndGet()
	}
	return a.drain()
}

func (a *actor) request(h uint8, dst, n int) error {
	data := fill(a.buf[:n], a.rng.Uint64())
	args := []uint64{uint64(a.id), uint64(a.sent)}
	args = append(args, sum(args, data))
	a.sent++
	switch h {
	case hOp:
		return a.r.e.RequestShort(dst, h, args...)
	case hOpMedium:
		return a.r.e.RequestMedium(dst, h, data, args...)
	}
	place := int64(a.r.id*allThreads+a.id) * opLong // the thread's own, and it waits before it writes there again
	if err := a.r.e.RequestLong(dst, h, data, place, args...); err != nil {
		return err
	}
	return a.drain()
}

// drain waits for all replies.
func (a *actor) drain() error {
	return a.until(func() bool { return a.c.done[a.id].Load() == a.sent })
}

// crowded runs work on threads of every kind at r, and gives the requests and visits that they made.
func (r *rank) crowded(c *crowd, work func(a *actor) error) (sent int64, visits int, err error) {
	actors := make([]*actor, allThreads)
	for i := range actors {
		rng := rand.New(rand.NewPCG(r.j.seed, uint64(1000+r.id*allThreads+i)))
		actors[i] = &actor{r: r, c: c, id: i, rng: rng, buf: make([]byte, opLong), until: r.until}
	}
	var wg sync.WaitGroup
	for i, a := range actors {
		switch {
		case i < goroutines:
			wg.Go(func() { r.ok(work(a)) })
		case i < goroutines+osThreads:
			wg.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				r.ok(work(a))
			})
		default:
			if _, err := r.sched.Go(func(t *fult.Thread) {
				a.until = r.untilOn(t)
				r.ok(work(a))
			}); err != nil {
				return 0, 0, err
			}
		}
	}
	wg.Wait()
	if err := r.sched.Wait(); err != nil {
		return 0, 0, err
	}
	for _, a := range actors {
		sent += a.sent
		visits += a.visit
	}
	return sent, visits, nil
}

// untilOn is until for a fult thread, whose worker polls when it yields.
func (r *rank) untilOn(t *fult.Thread) func(ok func() bool) error {
	return func(ok func() bool) error {
		for !ok() {
			if r.j.failed.Load() {
				return errGaveUp
			}
			if r.e.Poll() <= 0 {
				runtime.Gosched() // there may be fewer cores than workers
			}
			t.Yield()
		}
		return nil
	}
}

// TestThreads is testthreads: goroutines, locked OS threads and fult threads of all ranks do random things at once.
func TestThreads(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		const n = 2
		var requests, counted atomic.Int64
		o := options{threads: true, memory: contendOwn + n*allThreads*contendPiece}
		spmd(t, net, n, o, newCrowd, func(r *rank, c *crowd) error {
			sent, visits, err := r.crowded(c, func(a *actor) error {
				for range 120 {
					if err := a.act(); err != nil {
						return err
					}
				}
				return a.drain()
			})
			if err != nil {
				return err
			}
			requests.Add(sent + int64(visits))
			if err := r.barrier(); err != nil {
				return err
			}
			if err := c.served.Lock(); err != nil {
				return err
			}
			counted.Add(int64(c.count))
			if err := c.served.Unlock(); err != nil {
				return err
			}
			if err := r.barrier(); err != nil {
				return err
			}
			if counted.Load() != requests.Load() {
				return fmt.Errorf("%d requests and visits, %d counted", requests.Load(), counted.Load())
			}
			return nil
		})
	})
}

// Places in the segment of TestContention, beyond those of Long messages.
const (
	contendRanks = 3
	contendCount = contendRanks * allThreads * opLong // a counter that all add to, at rank 0
	contendOwn   = contendCount + 64                  // a piece for each thread
	contendPiece = 1000
)

// TestContention is testcontend. Many threads of all ranks send to rank 0, put to it, get from it, add to a counter
// there, or poll. Meanwhile one thread of each rank goes through barriers.
func TestContention(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		o := options{threads: true, memory: contendOwn + contendRanks*allThreads*contendPiece}
		spmd(t, net, contendRanks, o, newCrowd, func(r *rank, c *crowd) error {
			if _, _, err := r.crowded(c, contend); err != nil {
				return err
			}
			if err := r.barrier(); err != nil {
				return err
			}
			got, err := rma.Load[uint64](r.m, 0, contendCount)
			if err != nil {
				return err
			}
			if want := uint64(contendRanks * contenders * contendEach); got != want {
				return fmt.Errorf("the counter is %d, want %d", got, want)
			}
			return r.barrier()
		})
	})
}

const (
	contendEach = 60
	contenders  = 2 // threads of a rank that add
)

func contend(a *actor) error {
	for k := range contendEach {
		var err error
		switch a.id {
		case 0:
			err = a.r.b.Enter(uint64(k), barrier.Named)
		case 1:
			a.r.e.Poll()
		case 2, 3:
			_, err = rma.FetchAdd[uint64](a.r.m, 0, contendCount, 1)
		case 4, 5:
			err = a.putAndGet()
		case 6:
			err = a.request(hOp, 0, 0)
		default:
			err = a.request(hOpMedium, 0, 200)
		}
		if err != nil {
			return err
		}
	}
	return a.drain()
}

// putAndGet puts to the thread's own piece of rank 0's segment, and gets it back.
func (a *actor) putAndGet() error {
	at := int64(contendOwn + (a.r.id*allThreads+a.id)*contendPiece)
	n := a.rng.IntN(contendPiece + 1)
	src := fill(a.buf[:n], a.rng.Uint64())
	if err := a.r.m.Put(0, at, src); err != nil {
		return err
	}
	got := a.buf[n : 2*n]
	if err := a.r.m.Get(0, at, got); err != nil {
		return err
	}
	if !bytes.Equal(src, got) {
		return fmt.Errorf("thread %d: %d bytes came back damaged", a.id, n)
	}
	return nil
}
