package mpi

import "github.com/golci/golci/internal/mpi/core"

// Collectives are carried out by the layer below, on bytes. These functions say what the bytes are.

func bufOf[T any](buf []T) core.Buf { return core.BufOf(bytesOf(buf), len(buf), sizeOf[T]()) }

// step is what the layer below does for a collective with these buffers and that root.
type step = func(x *core.Call, root int) error

// blocking carries out a collective on the two buffers for the function what.
func blocking[T any](c *Comm, what string, in, out []T, root int, f step) error {
	return c.core().Blocking(what, elemOf[T](), bufOf(in), bufOf(out), root, f)
}

// starting is blocking for a collective that does not wait.
func starting[T any](c *Comm, what string, in, out []T, root int, f step) (Request, error) {
	r, err := c.core().Starting(what, elemOf[T](), bufOf(in), bufOf(out), root, f)
	return Request(r), err
}

// reducing is blocking for a reduction.
func reducing[T any](c *Comm, what string, in, out []T, op Op[T], root int, f step) error {
	_, err := c.core().Reducing(what, elemOf[T](), bufOf(in), bufOf(out), op.operator(), root, f)
	return err
}

// startReducing is reducing for a reduction that does not wait.
func startReducing[T any](c *Comm, what string, in, out []T, op Op[T], root int, f step) (Request, error) {
	r, err := c.core().StartReducing(what, elemOf[T](), bufOf(in), bufOf(out), op.operator(), root, f)
	return Request(r), err
}
