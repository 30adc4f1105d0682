package taskbench

import (
	"time"

	"github.com/golci/golci/mpi"
)

// Threads divides the points among the ranks, and has a light-weight thread for each point. An output travels as a
// message to each task that depends on it, within a rank as well. Only a thread's own output does not.
type Threads struct{ Comm *mpi.Comm }

// Run implements Runner. The start of the threads is part of the time.
func (t Threads) Run(r *Run) (time.Duration, error) {
	wires := remotes(r, t.Comm, true)
	all := make([]*member, r.own.Len())
	for i := range all {
		all[i] = &member{
			Run: r, comm: t.Comm, remotes: wires, point: r.own.First + i, inputs: make([][]Stamp, 0, r.most),
			outputs: r.output(2),
		}
	}
	return timed(t.Comm, func() error {
		return t.Comm.Proc().Parallel(len(all), func(i int) error { return all[i].steps() })
	})
}

// member is the thread of a point.
type member struct {
	*Run
	comm    *mpi.Comm
	remotes *wires[*remote]
	point   int
	inputs  [][]Stamp
	outputs [][]Stamp        // of even and odd steps
	sends   [2][]mpi.Request // of these outputs
}

func (m *member) steps() error {
	for step := range m.Steps {
		if !m.window(step).Has(m.point) {
			continue
		}
		if err := m.step(step); err != nil {
			return err
		}
	}
	for _, sends := range m.sends {
		if err := mpi.Waitall(sends, nil); err != nil {
			return err
		}
	}
	return nil
}

func (m *member) step(step int) error {
	own, out, sends := m.outputs[(step+1)%2], m.outputs[step%2], m.sends[step%2]
	m.inputs = m.inputs[:0]
	for _, e := range m.remotes.inputs(step, m.point) {
		if e == nil {
			m.inputs = append(m.inputs, own)
			continue
		}
		if _, err := mpi.Recv(m.comm, e.room, e.rank, e.tag); err != nil {
			return err
		}
		m.inputs = append(m.inputs, e.room)
	}
	if err := mpi.Waitall(sends, nil); err != nil {
		return err
	}
	m.Task(step, m.point, out, m.inputs)
	sends = sends[:0]
	for _, e := range m.remotes.outputs(step, m.point) {
		if e == nil {
			continue
		}
		q, err := mpi.Isend(m.comm, out, e.rank, e.tag)
		if err != nil {
			return err
		}
		sends = append(sends, q)
	}
	m.sends[step%2] = sends
	return nil
}
