package taskbench

import (
	"fmt"
	"sync/atomic"
)

// Stamp names the task that has written it. A task's output consists of its stamp, as often as there is room.
type Stamp struct{ Step, Point int64 }

// A Run is one execution of a graph on one rank. It checks that each task has the right inputs and runs once.
type Run struct {
	*Plan
	own     Interval // the rank's points
	done    []uint8  // by point and step, 1 if the task has run; each is written by its task
	scratch []byte   // by point; used by one task of the point at a time
	failed  atomic.Pointer[error]
}

// NewRun prepares the execution of the points own of p.
func NewRun(p *Plan, own Interval) *Run {
	r := &Run{Plan: p, own: own, done: make([]uint8, own.Len()*p.Steps)}
	r.scratch = make([]byte, own.Len()*p.Kernel.Scratch)
	for i := range r.scratch {
		r.scratch[i] = byte(i) // the pages are there before the time begins
	}
	return r
}

// Task executes the task (step, point) of a point of the run. inputs are the outputs of the tasks that Inputs lists,
// in that order, and out is room for its own. It does not block, and may be called by several threads for different
// tasks; those of one point by one after the other. The first fault is kept for End, and the run goes on.
func (r *Run) Task(step, point int, out []Stamp, inputs [][]Stamp) {
	r.check(step, point, inputs)
	for i := range out {
		out[i] = Stamp{int64(step), int64(point)}
	}
	at := point - r.own.First
	r.execute(step, point, r.scratch[at*r.Kernel.Scratch:(at+1)*r.Kernel.Scratch])
	mark := &r.done[at*r.Steps+step]
	if *mark != 0 || len(out)*stampBytes != r.Payload {
		r.refuse(step, point, len(out), *mark != 0)
	}
	*mark = 1
}

func (r *Run) check(step, point int, inputs [][]Stamp) {
	producers := r.Inputs(step, point)
	if len(producers) != len(inputs) {
		r.fail("task (%d, %d) has %d inputs, want %d", step, point, len(inputs), len(producers))
		return
	}
	for i, p := range producers {
		want := Stamp{int64(step - 1), int64(p)}
		if len(inputs[i])*stampBytes != r.Payload {
			r.fail("input %d of task (%d, %d) has %d bytes, want %d", i, step, point, len(inputs[i])*stampBytes,
				r.Payload)
			return
		}
		for j, s := range inputs[i] {
			if s != want {
				r.fail("input %d of task (%d, %d), stamp %d: that of task (%d, %d), want that of task (%d, %d)",
					i, step, point, j, s.Step, s.Point, want.Step, want.Point)
				return
			}
		}
	}
}

func (r *Run) refuse(step, point, stamps int, again bool) {
	if again {
		r.fail("task (%d, %d) runs twice", step, point)
		return
	}
	r.fail("task (%d, %d) has room for %d bytes, want %d", step, point, stamps*stampBytes, r.Payload)
}

func (r *Run) fail(format string, args ...any) {
	err := fmt.Errorf("%w: %s", ErrResult, fmt.Sprintf(format, args...))
	r.failed.CompareAndSwap(nil, &err)
}

// End returns the first fault of the run, or that a task has not run. It is called once all is over, and makes the run
// ready for another one.
func (r *Run) End() error {
	for point := r.own.First; point <= r.own.Last; point++ {
		for step := range r.Steps {
			mark := &r.done[(point-r.own.First)*r.Steps+step]
			if r.window(step).Has(point) && *mark == 0 {
				r.fail("task (%d, %d) did not run", step, point)
			}
			*mark = 0
		}
	}
	if err := r.failed.Swap(nil); err != nil {
		return *err
	}
	return nil
}

// output is room for an output of each of n tasks.
func (p *Plan) output(n int) [][]Stamp {
	per := p.Payload / stampBytes
	all := make([]Stamp, n*per)
	list := make([][]Stamp, n)
	for i := range list {
		list[i] = all[i*per : (i+1)*per : (i+1)*per]
	}
	return list
}
