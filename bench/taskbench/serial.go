package taskbench

import "time"

// A Runner executes graphs.
type Runner interface {
	// Run executes every task of r once and returns the time that took. It blocks. A rank of several calls it with
	// its part of the graph, at the same time as the others. The time is from when all are ready until all have
	// ended. Faults of tasks are kept in r.
	Run(r *Run) (time.Duration, error)
}

// Serial executes the tasks in a loop, step by step.
type Serial struct{}

// Run implements Runner.
func (Serial) Run(r *Run) (time.Duration, error) {
	outputs := [2][][]Stamp{r.output(r.Width), r.output(r.Width)}
	inputs := make([][]Stamp, 0, r.most)
	start := time.Now()
	for step := range r.Steps {
		w, from, to := r.window(step), outputs[(step+1)%2], outputs[step%2]
		for point := w.First; point <= w.Last; point++ {
			inputs = inputs[:0]
			for _, p := range r.Inputs(step, point) {
				inputs = append(inputs, from[p])
			}
			r.Task(step, point, to[point], inputs)
		}
	}
	return time.Since(start), nil
}

// Raw executes the kernels of all tasks without anything around them. It is no runner of the graph, but the limit of
// the machine.
type Raw struct{}

// Run implements Runner.
func (Raw) Run(r *Run) (time.Duration, error) {
	start := time.Now()
	for step := range r.Steps {
		w := r.window(step)
		for point := w.First; point <= w.Last; point++ {
			at := point - r.own.First
			r.execute(step, point, r.scratch[at*r.Kernel.Scratch:(at+1)*r.Kernel.Scratch])
			r.done[at*r.Steps+step] = 1
		}
	}
	return time.Since(start), nil
}
