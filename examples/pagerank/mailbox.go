package main

import "github.com/golci/golci/mpi"

// mailbox is what one thread needs to exchange ghosts, made once. It belongs to that thread.
type mailbox struct {
	gives, takes []segment
	out          [][]float64   // a buffer for each of gives
	requests     []mpi.Request // for takes, then for gives
}

func (s *solver) newMailbox(i int) *mailbox {
	m := &mailbox{gives: s.gives[i], takes: s.takes[i]}
	m.out = make([][]float64, len(m.gives))
	for k, g := range m.gives {
		m.out[k] = make([]float64, len(g.places))
	}
	m.requests = make([]mpi.Request, 0, len(m.takes)+len(m.gives))
	return m
}

// exchange sends the values that other ranks need and receives the ghosts, all at once. It waits, and switches threads.
func (m *mailbox) exchange(c *mpi.Comm, values []float64, tag int) error {
	m.requests = m.requests[:0]
	for _, t := range m.takes {
		r, err := mpi.Irecv(c, values[t.lo:t.hi], t.peer, tag)
		if err != nil {
			return err
		}
		m.requests = append(m.requests, r)
	}
	for k, g := range m.gives {
		for j, place := range g.places {
			m.out[k][j] = values[place]
		}
		r, err := mpi.Isend(c, m.out[k], g.peer, tag)
		if err != nil {
			return err
		}
		m.requests = append(m.requests, r)
	}
	return mpi.Waitall(m.requests, nil)
}
