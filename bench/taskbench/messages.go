package taskbench

import (
	"time"

	"github.com/golci/golci/mpi"
)

// Own is the points of a rank of n, which have about the same number each.
func Own(width, rank, n int) Interval {
	return Interval{rank * width / n, (rank+1)*width/n - 1}
}

// owners has the rank of each point.
func owners(width, n int) []int {
	all := make([]int, width)
	for rank := range n {
		own := Own(width, rank, n)
		for p := own.First; p <= own.Last; p++ {
			all[p] = rank
		}
	}
	return all
}

// remote is the way between two points by messages. A rank has the parts of its own points.
type remote struct {
	rank int     // of the other point
	tag  int     // of both points
	room []Stamp // for one message, at the consumer; nil at the producer
}

// remotes wires points of different ranks, or all different points with everywhere.
func remotes(r *Run, c *mpi.Comm, everywhere bool) *wires[*remote] {
	owner := owners(r.Width, c.Size())
	return wire(r.Plan, func(producer, consumer int) *remote {
		from, to := owner[producer], owner[consumer]
		switch {
		case producer == consumer || from == to && !everywhere:
			return nil
		case to == c.Rank():
			return &remote{from, producer*r.Width + consumer, r.output(1)[0]}
		case from == c.Rank():
			return &remote{rank: to, tag: producer*r.Width + consumer}
		}
		return nil
	})
}

// timed measures f from when all ranks begin until all have ended.
func timed(c *mpi.Comm, f func() error) (time.Duration, error) {
	if err := c.Barrier(); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := f(); err != nil {
		return 0, err
	}
	err := c.Barrier()
	return time.Since(start), err
}

// Messages divides the points among the ranks. Each rank executes its tasks step by step, as Serial does. Before each
// step it sends all that other ranks need, and waits until it has all that it needs. Task Bench's own MPI program does
// the same.
type Messages struct{ Comm *mpi.Comm }

// Run implements Runner.
func (m Messages) Run(r *Run) (time.Duration, error) {
	s := &stepper{
		Run: r, comm: m.Comm, remotes: remotes(r, m.Comm, false), inputs: make([][]Stamp, 0, r.most),
		outputs: [2][][]Stamp{r.output(r.own.Len()), r.output(r.own.Len())},
	}
	return timed(m.Comm, s.steps)
}

// stepper is one run of Messages on a rank.
type stepper struct {
	*Run
	comm    *mpi.Comm
	remotes *wires[*remote]
	outputs [2][][]Stamp // of even and odd steps, by own point
	inputs  [][]Stamp
	reqs    []mpi.Request
}

func (s *stepper) steps() error {
	for step := range s.Steps {
		if err := s.exchange(step); err != nil {
			return err
		}
		w := s.mine(step)
		for point := w.First; point <= w.Last; point++ {
			s.task(step, point)
		}
	}
	return nil
}

// mine is the rank's part of a step.
func (s *stepper) mine(step int) Interval {
	w := s.window(step)
	return Interval{max(w.First, s.own.First), min(w.Last, s.own.Last)}
}

func (s *stepper) exchange(step int) error {
	s.reqs = s.reqs[:0]
	for w, point := s.mine(step), s.mine(step).First; point <= w.Last; point++ {
		for _, e := range s.remotes.inputs(step, point) {
			if e == nil {
				continue
			}
			q, err := mpi.Irecv(s.comm, e.room, e.rank, e.tag)
			if err != nil {
				return err
			}
			s.reqs = append(s.reqs, q)
		}
	}
	for w, point := s.mine(step-1), s.mine(step-1).First; point <= w.Last; point++ {
		for _, e := range s.remotes.outputs(step-1, point) {
			if e == nil {
				continue
			}
			q, err := mpi.Isend(s.comm, s.outputs[(step+1)%2][point-s.own.First], e.rank, e.tag)
			if err != nil {
				return err
			}
			s.reqs = append(s.reqs, q)
		}
	}
	if len(s.reqs) == 0 {
		return nil
	}
	return mpi.Waitall(s.reqs, nil)
}

func (s *stepper) task(step, point int) {
	s.inputs = s.inputs[:0]
	wires := s.remotes.inputs(step, point)
	for i, p := range s.Inputs(step, point) {
		if e := wires[i]; e != nil {
			s.inputs = append(s.inputs, e.room)
		} else {
			s.inputs = append(s.inputs, s.outputs[(step+1)%2][p-s.own.First])
		}
	}
	s.Task(step, point, s.outputs[step%2][point-s.own.First], s.inputs)
}
