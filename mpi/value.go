package mpi

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
)

// Values travel as a message of bytes that a Codec makes.

// Codec turns Go values into bytes and back. Marshal is given a pointer to the value, Unmarshal a pointer to a zero
// value. Its methods may be called from many goroutines and threads at once, and must not block.
type Codec interface {
	Marshal(v any) ([]byte, error)
	Unmarshal(b []byte, v any) error
}

// Gob is the codec of a communicator that has no other: encoding/gob. It leaves out fields that are not exported.
// Types that travel in interfaces must be registered with gob.Register on both sides. A type may encode itself: see
// gob.GobEncoder and encoding.BinaryMarshaler.
var Gob Codec = gobCodec{}

type gobCodec struct{}

func (gobCodec) Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	err := gob.NewEncoder(&buf).Encode(v)
	return buf.Bytes(), err
}

func (gobCodec) Unmarshal(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }

// WithCodec returns a view of c, as WithContext does, whose values travel by codec; nil stands for Gob. All ranks
// must use the same one. It does not block.
func (c *Comm) WithCodec(codec Codec) *Comm {
	if codec == nil {
		return (*Comm)(c.core().WithCodec(nil))
	}
	return (*Comm)(c.core().WithCodec(codec))
}

// SendValue sends any Go value that the codec of c can encode (see Gob), as one message; RecvValue receives it. It
// waits as Send does. Errors as for Send; ErrType, with the codec's reason, for what it cannot encode.
func SendValue[T any](c *Comm, v T, dest, tag int) error {
	return c.sendValue("SendValue", &v, dest, tag, comm.Standard)
}

// SsendValue is SendValue that returns only when a receive has been matched with the message (3.4). It waits for that,
// and may switch threads. Errors as for SendValue.
func SsendValue[T any](c *Comm, v T, dest, tag int) error {
	return c.sendValue("SsendValue", &v, dest, tag, comm.Synchronous)
}

// sendValue sends the value that v points to, for the function what.
func (c *Comm) sendValue(what string, v any, dest, tag int, mode comm.Mode) error {
	b, err := c.packFor(what, v, dest, tag)
	if err != nil {
		return err
	}
	return c.core().SendAny(what, elemOf[byte](), b, dest, tag, mode)
}

// IsendValue starts to send a value and returns a request for it. The value is encoded at once, so it may be changed
// before the request is done. It does not block. Errors as for SendValue.
func IsendValue[T any](c *Comm, v T, dest, tag int) (Request, error) {
	b, err := c.packFor("IsendValue", &v, dest, tag)
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().IsendAny("IsendValue", elemOf[byte](), b, dest, tag, comm.Standard)
	return Request(r), err
}

// RecvValue receives a value that SendValue, SsendValue or IsendValue sent. The types need not be the same but must
// agree as the codec asks. From ProcNull it gives the zero value. It waits, and may switch threads. Errors as for
// Recv; ErrType, with the codec's reason, for a message that is no T or was not sent as a value; ErrMemory as for
// RecvAlloc.
func RecvValue[T any](c *Comm, source, tag int) (T, Status, error) {
	var v T
	b, st, err := recvAlloc[byte](c, "RecvValue", source, tag)
	if err != nil || source == ProcNull {
		return v, st, err
	}
	v, err = unpackFrom[T](c, "RecvValue", b, st)
	return v, st, err
}

// IprobeValue polls once and receives a value if there is a message for a RecvValue with these arguments; else ok is
// false. It waits only for the bytes of a long message. Errors as for RecvValue.
func IprobeValue[T any](c *Comm, source, tag int) (v T, st Status, ok bool, err error) {
	m, err := c.core().Improbe("IprobeValue", source, tag)
	if err != nil || m == nil {
		return v, Status{}, false, err
	}
	found := m.Status()
	if m.NullSource() {
		return v, face(found), true, nil
	}
	var b []byte
	alloc := func(n int) []byte {
		b = make([]byte, n)
		return b
	}
	if st, err = status(m.Mrecv("IprobeValue", elemOf[byte](), nil, alloc)); err == nil {
		st.Source, st.Tag = found.Source, found.Tag
		v, err = unpackFrom[T](c, "IprobeValue", b, st)
	}
	return v, st, true, err
}

// packFor encodes the value that v points to for a send with these arguments. To the null process it encodes nothing.
func (c *Comm) packFor(what string, v any, dest, tag int) ([]byte, error) {
	if err := c.core().Bad(what, core.Sending, nil, dest, tag); err != nil || dest == ProcNull {
		return nil, err
	}
	b, err := c.pack(v)
	if err != nil {
		return nil, c.core().Errorf(what, ", to %s, tag %d: %w", core.PeerText(dest), tag, err)
	}
	return b, nil
}

// codecOf is the codec in force.
func (c *Comm) codecOf() Codec {
	if codec, ok := c.core().Codec().(Codec); ok {
		return codec
	}
	return Gob
}

// pack survives panics of the codec and of the value's own encoders.
func (c *Comm) pack(v any) (b []byte, err error) {
	p := reflect.ValueOf(v).Elem()
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: cannot encode %v: %v", ErrType, p.Type(), r)
		}
	}()
	if p.Kind() == reflect.Pointer && p.IsNil() {
		return nil, fmt.Errorf("%w: a nil %v points to no value", ErrType, p.Type())
	}
	if b, err = c.codecOf().Marshal(v); err != nil {
		return nil, fmt.Errorf("%w: cannot encode %v: %w", ErrType, p.Type(), err)
	}
	return b, nil
}

// unpackFrom decodes a message that was received as a value.
func unpackFrom[T any](c *Comm, what string, b []byte, st Status) (T, error) {
	v, err := unpack[T](c, b)
	if err != nil {
		err = c.core().Errorf(what, ", %d bytes from %s, tag %d: %w", len(b), core.PeerText(st.Source), st.Tag, err)
	}
	return v, err
}

// unpack survives panics, as pack does.
func unpack[T any](c *Comm, b []byte) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			var zero T
			v, err = zero, fmt.Errorf("%w: the message is no %T, or was not sent as a value: %w", ErrType, zero, err)
		}
	}()
	err = c.codecOf().Unmarshal(b, &v)
	return v, err
}
