package ranks

import (
	"fmt"

	"github.com/golci/golci/mpi"
)

// columns is how many columns the matrix of vector and packed has. One of them is sent.
const columns = 8

// column is a matrix of 8-byte elements whose first column holds size bytes.
type column struct {
	m     []int64
	shape mpi.Strided
	line  []int64 // the column's elements without gaps
}

func newColumn(size int) *column {
	n := size / 8
	return &column{
		m:     make([]int64, n*columns),
		shape: mpi.Strided{Count: n, Block: 1, Stride: columns},
		line:  make([]int64, n),
	}
}

// put and look are those of payload.go: of the whole column, or of its ends.
func (c *column) put(i int, whole bool) {
	for k := 0; k < len(c.m) && (whole || i%checkEvery == 0); k += c.step(whole) {
		c.m[k] = int64(i)
	}
}

func (c *column) look(i int, whole bool) error {
	for k := 0; k < len(c.m) && (whole || i%checkEvery == 0); k += c.step(whole) {
		if c.m[k] != int64(i) {
			return fmt.Errorf("%w: message %d has %d in row %d", ErrPayload, i, c.m[k], k/columns)
		}
	}
	return nil
}

// step is to the next row, or to the last one.
func (c *column) step(whole bool) int {
	if whole {
		return columns
	}
	return max(columns, len(c.m)-columns)
}

func (c *column) pack() {
	for k := range c.line {
		c.line[k] = c.m[k*columns]
	}
}

func (c *column) unpack() {
	for k, v := range c.line {
		c.m[k*columns] = v
	}
}

func (c *column) send(e *env, peer int) error {
	return mpi.SendStrided(e.comm, c.m, c.shape, peer, tagData)
}

func (c *column) recv(e *env, peer int) error {
	_, err := mpi.RecvStrided(e.comm, c.m, c.shape, peer, tagData)
	return err
}

func (c *column) sendPacked(e *env, peer int) error {
	c.pack()
	return mpi.Send(e.comm, c.line, peer, tagData)
}

func (c *column) recvPacked(e *env, peer int) error {
	_, err := mpi.Recv(e.comm, c.line, peer, tagData)
	c.unpack()
	return err
}

// columnTrips makes round trips of a column, whose first message rank 0 sends.
func columnTrips(send, recv func(c *column, e *env, peer int) error) loop {
	trips := func(e *env, size, n int, whole bool) error {
		out, in, peer := newColumn(size), newColumn(size), 1-e.rank
		for i := range n {
			out.put(i, whole)
			if e.rank == 0 {
				if err := send(out, e, peer); err != nil {
					return err
				}
			}
			if err := recv(in, e, peer); err != nil {
				return err
			}
			if err := in.look(i, whole); err != nil {
				return err
			}
			if e.rank == 1 {
				if err := send(out, e, peer); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return between(trips, trips)
}
