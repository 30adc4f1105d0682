package mpi

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// Collectives are carried out by the layer below, on bytes. These functions say what the bytes are.

// choose is the method of a call that checks its arguments and chooses how it is carried out.
type choose = func(x *core.Call, root int) error

// buffers gives x its buffers.
func buffers[T any](x *core.Call, in, out []T) *core.Call {
	x.Buffers(unsafe.Pointer(unsafe.SliceData(in)), len(in), unsafe.Pointer(unsafe.SliceData(out)), len(out), sizeOf[T]())
	return x
}

// blocking carries out a collective on the two buffers for the function what.
func blocking[T any](c *Comm, what string, in, out []T, root int, f choose) error {
	x, err := c.core().Begin(what, elemOf[T]())
	if err != nil {
		return err
	}
	return x.Finish(f(buffers(x, in, out), root))
}

// starting is blocking for a collective that does not wait.
func starting[T any](c *Comm, what string, in, out []T, root int, f choose) (Request, error) {
	x, err := c.core().BeginLater(what, elemOf[T]())
	if err != nil {
		return Request{}, err
	}
	r, err := x.Launch(f(buffers(x, in, out), root))
	return Request(r), err
}

// reducing is blocking for a reduction.
func reducing[T any](c *Comm, what string, in, out []T, op Op[T], root int, f choose) error {
	o := op.operator()
	return blocking(c, what, in, out, root, func(x *core.Call, root int) error {
		x.Operate(o)
		return f(x, root)
	})
}

// startReducing is reducing for a reduction that does not wait.
func startReducing[T any](c *Comm, what string, in, out []T, op Op[T], root int, f choose) (Request, error) {
	o := op.operator()
	return starting(c, what, in, out, root, func(x *core.Call, root int) error {
		x.Operate(o)
		return f(x, root)
	})
}
