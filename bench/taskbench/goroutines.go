package taskbench

import (
	"runtime"
	"sync"
	"time"
)

// Goroutines has a goroutine for each point, and a channel for each pair of points that are related.
type Goroutines struct {
	Procs int // GOMAXPROCS for the time of a run; 0 leaves it
}

// ahead is how many outputs a channel holds: a goroutine is ahead of one that needs its outputs by as much.
const ahead = 1

// channel leads from a point to another. A sent output stays as it is until two more than the channel holds have been
// sent after it: then the receiver has come back for the next one.
type channel struct {
	outputs chan []Stamp
	ring    [][]Stamp // of the sender
	sent    int       // by the sender
}

func newChannel(p *Plan) *channel {
	return &channel{outputs: make(chan []Stamp, ahead), ring: p.output(ahead + 2)}
}

func (c *channel) send(out []Stamp) {
	room := c.ring[c.sent%len(c.ring)]
	c.sent++
	copy(room, out)
	c.outputs <- room
}

// Run implements Runner.
func (g Goroutines) Run(r *Run) (time.Duration, error) {
	if g.Procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(g.Procs))
	}
	channels := wire(r.Plan, func(producer, consumer int) *channel {
		if producer == consumer {
			return nil
		}
		return newChannel(r.Plan)
	})
	var ready, ended sync.WaitGroup
	start := make(chan struct{})
	ready.Add(r.Width)
	for point := range r.Width {
		ended.Go(func() {
			inputs, outputs := make([][]Stamp, r.most), r.output(2)
			ready.Done()
			<-start
			steps(r, point, channels, inputs, outputs)
		})
	}
	ready.Wait()
	begin := time.Now()
	close(start)
	ended.Wait()
	return time.Since(begin), nil
}

// steps executes the tasks of a point. Its own outputs need no channel: they alternate.
func steps(r *Run, point int, channels *wires[*channel], inputs, outputs [][]Stamp) {
	for step := range r.Steps {
		if !r.window(step).Has(point) {
			continue
		}
		own, out := outputs[(step+1)%2], outputs[step%2]
		n := 0
		for _, c := range channels.inputs(step, point) {
			if c == nil {
				inputs[n] = own
			} else {
				inputs[n] = <-c.outputs
			}
			n++
		}
		r.Task(step, point, out, inputs[:n])
		for _, c := range channels.outputs(step, point) {
			if c != nil {
				c.send(out)
			}
		}
	}
}
