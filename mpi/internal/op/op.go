package op

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// ID is a predefined operation; its number is that of its handle in the ABI of MPI 5.0.
type ID uint16

// The predefined operations (6.9.2, 6.9.4, 12.3.4).
const (
	Sum     ID = 0x21
	Min     ID = 0x22
	Max     ID = 0x23
	Prod    ID = 0x24
	Band    ID = 0x28
	Bor     ID = 0x29
	Bxor    ID = 0x2a
	Land    ID = 0x30
	Lor     ID = 0x31
	Lxor    ID = 0x32
	MinLoc  ID = 0x38
	MaxLoc  ID = 0x39
	Replace ID = 0x3c // of accumulations only: gives high
	NoOp    ID = 0x3d // of accumulations only: gives low
)

var names = map[ID]string{
	Sum: "SUM", Min: "MIN", Max: "MAX", Prod: "PROD", Band: "BAND", Bor: "BOR", Bxor: "BXOR", Land: "LAND", Lor: "LOR",
	Lxor: "LXOR", MinLoc: "MINLOC", MaxLoc: "MAXLOC", Replace: "REPLACE", NoOp: "NO_OP",
}

// String is the standard's name of the operation.
func (id ID) String() string {
	if name, ok := names[id]; ok {
		return "MPI_" + name
	}
	return fmt.Sprintf("operation %#x", uint16(id))
}

// Func sets out[i] to low[i] op high[i] for n elements, 0 or more, which lie an extent apart. low is of lower ranks.
// out is low, or high, or does not overlap them. Nothing blocks, allocates or panics. Bytes between the data are left
// as they are.
type Func func(out, low, high unsafe.Pointer, n int64)

// User is an operation of the program (6.9.5). Fn sets inout[i] to in[i] op inout[i] for n elements of t; in is of
// lower ranks. It must not keep the pointers. Its error ends the call. Commutes allows a op b to be computed as b op a.
type User struct {
	Fn       func(in, inout unsafe.Pointer, n int64, t *dtype.Type) error
	Commutes bool
}

// Op is an operation. It does not change, so any number of goroutines may use it.
type Op struct {
	id   ID    // of a predefined one
	user *User // else
}

// predefined are the operations by number; the numbers of the ABI are less than 0x40. Fixed.
var predefined = func() (all [0x40]*Op) {
	for id := range names {
		all[id] = &Op{id: id}
	}
	return all
}()

// Predefined is the operation with that number; nil if there is none.
func Predefined(id ID) *Op {
	if uint(id) >= uint(len(predefined)) {
		return nil
	}
	return predefined[id]
}

// New makes an operation of the program. errs.Arg: it has no function.
func New(u User) (*Op, error) {
	if u.Fn == nil {
		return nil, fmt.Errorf("%w: the operation has no function", errs.Arg)
	}
	return &Op{user: &u}, nil
}

// ID is the number of a predefined operation, 0 of others.
func (o *Op) ID() ID { return o.id }

// Commutes reports whether the order of the operands does not matter (6.9.7).
func (o *Op) Commutes() bool {
	if o.user != nil {
		return o.user.Commutes
	}
	return o.id != Replace && o.id != NoOp
}

func (o *Op) String() string {
	if o.user != nil {
		return "an operation of the program"
	}
	return o.id.String()
}

// Combiner is an operation on elements of one datatype. The zero Combiner combines nothing.
type Combiner struct {
	fn   Func // of a predefined operation
	user *User
	t    *dtype.Type
}

// For gives the operation on elements of t, for a reduction. errs.Op: there is none, or o is nil, or it is for
// accumulations only. errs.Type: t is nil.
func (o *Op) For(t *dtype.Type) (Combiner, error) {
	switch {
	case o == nil:
		return Combiner{}, fmt.Errorf("%w: none", errs.Op)
	case t == nil:
		return Combiner{}, fmt.Errorf("%w: none", errs.Type)
	case o.user != nil:
		return Combiner{user: o.user, t: t}, nil
	case o.id == Replace || o.id == NoOp:
		return Combiner{}, fmt.Errorf("%w: %v is for accumulations", errs.Op, o.id)
	}
	fn, ok := lookupType(o.id, t)
	if !ok {
		return Combiner{}, fmt.Errorf("%w: %v is not for elements of %s", errs.Op, o.id, nameOf(t))
	}
	return Combiner{fn: fn, t: t}, nil
}

func nameOf(t *dtype.Type) string {
	if b := t.Basic(); b != 0 {
		return b.String()
	}
	return "a derived datatype"
}

// Combine sets n elements of out to low op high, as a Func does. If the operation is of the program and out is low, the
// content of high is lost. An error is that of the program's function. A panic of it goes through.
func (c Combiner) Combine(out, low, high unsafe.Pointer, n int64) error {
	switch {
	case n <= 0:
		return nil
	case c.fn != nil:
		c.fn(out, low, high, n)
		return nil
	case c.user != nil:
		return c.byUser(out, low, high, n)
	}
	return nil
}

// byUser has the result in the place of the second operand, as the program's function leaves it.
func (c Combiner) byUser(out, low, high unsafe.Pointer, n int64) error {
	if out != low && out != high {
		c.moveData(out, high, n)
		high = out
	}
	err := c.user.Fn(low, high, n, c.t)
	if err == nil && out != high {
		c.moveData(out, high, n)
	}
	return err
}

// moveData copies elements, and leaves what is between their data.
func (c Combiner) moveData(to, from unsafe.Pointer, n int64) {
	size, ok := c.t.Bytes(n)
	if !ok || size == 0 {
		return
	}
	if c.t.Dense() {
		copy(unsafe.Slice((*byte)(to), size), unsafe.Slice((*byte)(from), size))
		return
	}
	var dst, src dtype.Cursor
	c.t.Over(&dst, to, n)
	c.t.Over(&src, from, n)
	dtype.Copy(&dst, &src, 0, 0, size)
}
