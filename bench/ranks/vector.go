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

func (c *column) send(e *env, to int) error {
	return mpi.SendStrided(e.comm, c.m, c.shape, to, tagData)
}

func (c *column) recv(e *env, from int) error {
	_, err := mpi.RecvStrided(e.comm, c.m, c.shape, from, tagData)
	return err
}

func (c *column) sendPacked(e *env, to int) error {
	c.pack()
	return mpi.Send(e.comm, c.line, to, tagData)
}

func (c *column) recvPacked(e *env, from int) error {
	_, err := mpi.Recv(e.comm, c.line, from, tagData)
	c.unpack()
	return err
}

type move func(c *column, e *env, peer int) error

func (e *env) columnFirst(size, n int, whole bool) error {
	return e.columnPing(size, n, whole, (*column).send, (*column).recv)
}

func (e *env) columnSecond(size, n int, whole bool) error {
	return e.columnPong(size, n, whole, (*column).send, (*column).recv)
}

func (e *env) packedFirst(size, n int, whole bool) error {
	return e.columnPing(size, n, whole, (*column).sendPacked, (*column).recvPacked)
}

func (e *env) packedSecond(size, n int, whole bool) error {
	return e.columnPong(size, n, whole, (*column).sendPacked, (*column).recvPacked)
}

func (e *env) columnPing(size, n int, whole bool, send, recv move) error {
	out, in := newColumn(size), newColumn(size)
	for i := range n {
		out.put(i, whole)
		if err := send(out, e, 1); err != nil {
			return err
		}
		if err := recv(in, e, 1); err != nil {
			return err
		}
		if err := in.look(i, whole); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) columnPong(size, n int, whole bool, send, recv move) error {
	out, in := newColumn(size), newColumn(size)
	for i := range n {
		out.put(i, whole)
		if err := recv(in, e, 0); err != nil {
			return err
		}
		if err := in.look(i, whole); err != nil {
			return err
		}
		if err := send(out, e, 0); err != nil {
			return err
		}
	}
	return nil
}
