package schedule

// Run is the state of one execution of a schedule. It is owned by whoever executes it.
type Run struct {
	steps []Step
	next  int    // steps before it have been started
	low   int    // steps before it are done
	done  []bool // of the steps from low to next
}

// Begin begins an execution of s, which must not change until its end. The first from steps are done already.
func (r *Run) Begin(s *Schedule, from int) {
	r.steps, r.next, r.low = s.Steps, from, from
	if len(r.done) < len(s.Steps) {
		r.done = make([]bool, max(2*len(r.done), len(s.Steps)))
	}
}

// Next gives the step to start next, and its number; nil if none may be started before another one is done. The caller
// starts it, and calls Done when it is done.
func (r *Run) Next() (*Step, int) {
	i := r.next
	if i == len(r.steps) || int(r.steps[i].After) > r.low {
		return nil, i
	}
	r.next++
	r.done[i] = false
	return &r.steps[i], i
}

// Done notes that step i, which has been started, is done.
func (r *Run) Done(i int) {
	r.done[i] = true
	for r.low < r.next && r.done[r.low] {
		r.low++
	}
}

// Over reports whether all steps are done.
func (r *Run) Over() bool { return r.low == len(r.steps) }

// Stuck reports whether no step can be started before step i is done, which Next has given last.
func (r *Run) Stuck(i int) bool {
	return r.next == len(r.steps) || int(r.steps[r.next].After) > i
}

// Pending gives the first step from number i on that has been started and is not done; nil if there is none. Where Next
// gives none, and the run is not over, there is one, and what comes next waits for it.
func (r *Run) Pending(i int) (*Step, int) {
	for i = max(i, r.low); i < r.next; i++ {
		if !r.done[i] {
			return &r.steps[i], i
		}
	}
	return nil, i
}
