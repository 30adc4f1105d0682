package main

import (
	"errors"

	"github.com/golci/golci/mpi"
)

// master hands out tasks.
type master struct {
	c     *mpi.Comm
	queue []int        // tasks that no worker has
	idle  []int        // workers without a task
	doing map[int]int  // by worker: its task
	dead  map[int]bool // workers that have died
	left  int          // tasks without a result
	sum   int          // of the results
}

func newMaster(c *mpi.Comm, tasks int) *master {
	m := &master{c: c, doing: map[int]int{}, dead: map[int]bool{}, left: tasks}
	for i := range tasks {
		m.queue = append(m.queue, i)
	}
	for r := 1; r < c.Size(); r++ {
		m.idle = append(m.idle, r)
	}
	return m
}

// run returns when all tasks have results, and the living workers know that.
func (m *master) run() error {
	for m.left > 0 {
		if err := m.handOut(); err != nil {
			return err
		}
		var got [1]message
		st, err := mpi.Recv(m.c, got[:], mpi.AnySource, tagResult)
		switch {
		case errors.Is(err, mpi.ErrFailedPending): // a worker has died, whose result would never come
			if err := m.bury(); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			delete(m.doing, st.Source)
			m.idle = append(m.idle, st.Source)
			m.sum += got[0].Result
			m.left--
		}
	}
	for r := 1; r < m.c.Size(); r++ {
		if err := mpi.Send(m.c, make([]message, 1), r, tagEnd); err != nil && !errors.Is(err, mpi.ErrPeer) {
			return err
		}
	}
	return nil
}

// handOut gives each idle worker a task, while there are any.
func (m *master) handOut() error {
	for len(m.queue) > 0 && len(m.idle) > 0 {
		worker, task := m.idle[0], m.queue[0]
		m.idle = m.idle[1:]
		err := mpi.Send(m.c, []message{{Task: task}}, worker, tagTask)
		switch {
		case errors.Is(err, mpi.ErrPeer): // the next receive tells of the death, too
		case err != nil:
			return err
		default:
			m.queue = m.queue[1:]
			m.doing[worker] = task
		}
	}
	if len(m.doing) == 0 && len(m.dead) == m.c.Size()-1 {
		return errors.New("all workers have died")
	}
	return nil
}

// bury acknowledges the deaths that are known, and takes the tasks of the dead back.
func (m *master) bury() error {
	dead, err := m.c.GetFailed()
	if err != nil {
		return err
	}
	for _, r := range dead {
		if task, ok := m.doing[r]; ok {
			m.queue = append(m.queue, task)
			delete(m.doing, r)
		}
		m.dead[r] = true
	}
	_, err = m.c.AckFailed(len(dead))
	return err
}
