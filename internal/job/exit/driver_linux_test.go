package exit

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/golci/golci/internal/job/boot"
)

// driver drives a Machine over a plane, as package mpi does.
type driver struct {
	job   *boot.Job
	limit time.Duration
	plane *boot.Plane
	over  chan Action // the last one

	mu      sync.Mutex // guards the rest
	m       *Machine
	timer   *time.Timer
	sends   sync.WaitGroup
	suspect int // rank that was gone at the last look, or NoRank
	ended   bool
}

const (
	settleTime = 50 * time.Millisecond
	probeEvery = 50 * time.Millisecond
)

func newDriver(j *boot.Job, limit time.Duration) (*driver, error) {
	d := &driver{job: j, limit: limit, over: make(chan Action, 1), suspect: NoRank}
	var err error
	if d.m, err = New(Config{Rank: j.Rank, Size: j.Size, Settle: settleTime, Limit: limit}); err != nil {
		return nil, err
	}
	d.mu.Lock() // messages wait until the plane is noted
	defer d.mu.Unlock()
	d.plane, err = j.OpenPlane(d.take)
	return d, err
}

func (d *driver) exit(code int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.obey(d.m.Exit(time.Now(), code))
}

func (d *driver) abort(code int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.obey(d.m.Abort(time.Now(), code))
}

func (d *driver) take(from int, b []byte) {
	msg, err := Parse(b)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.obey(d.m.Take(time.Now(), from, msg))
}

func (d *driver) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	out := d.m.Tick(time.Now())
	if len(out) == 0 {
		out = d.probe()
	}
	d.obey(out)
}

func (d *driver) probe() []Action {
	rank, ok := d.m.Waiting()
	if !ok || !d.plane.Gone(rank) {
		d.suspect = NoRank
		return nil
	}
	if d.suspect != rank {
		d.suspect = rank
		return nil
	}
	return d.m.Died(rank)
}

func (d *driver) obey(out []Action) {
	if d.ended {
		return
	}
	if d.m.Begun() {
		d.job.Ending()
	}
	for _, a := range out {
		if a.Kind != Send {
			d.ended = true
			d.over <- a
			return
		}
		d.sends.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), d.limit)
			defer cancel()
			_ = d.plane.Send(ctx, a.To, a.Msg.Append(nil)) // a rank that is gone needs nothing
		})
	}
	d.arm()
}

func (d *driver) arm() {
	at, ok := d.m.Deadline()
	if !ok {
		return
	}
	wait := time.Until(at)
	if _, waits := d.m.Waiting(); waits {
		wait = min(wait, probeEvery)
	}
	if d.timer == nil {
		d.timer = time.AfterFunc(wait, d.tick)
		return
	}
	d.timer.Reset(wait)
}

// close waits until everything has been sent, and leaves nothing behind.
func (d *driver) close() error {
	d.sends.Wait()
	err := d.plane.Close()
	if errors.Is(err, net.ErrClosed) { // by the test
		err = nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.timer != nil {
		d.timer.Stop()
	}
	return err
}
