package mpi

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"
)

// SendValue sends any Go value that encoding/gob can encode, as one message; RecvValue receives it. It waits as Send does. Errors
// as for Send; ErrType, with gob's reason, for what it cannot encode.
func SendValue[T any](c *Comm, v T, dest, tag int) error {
	if err := c.badSend("SendValue", nil, dest, tag); err != nil || dest == ProcNull {
		return err
	}
	b, err := encode(&v)
	if p := reflect.ValueOf(&v).Elem(); p.Kind() == reflect.Pointer && p.IsNil() {
		err = fmt.Errorf("%w: a nil %v points to no value", ErrType, p.Type())
	}
	if err != nil {
		return fmt.Errorf("mpi: SendValue: %s, to %s, tag %d: %w", c.who(), peerText(dest), tag, err)
	}
	return Send(c, b, dest, tag)
}

// encode survives panics of gob and of the value's own encoders.
func encode(v any) (b []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: gob cannot encode %T: %v", ErrType, v, r)
		}
	}()
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrType, err)
	}
	return buf.Bytes(), nil
}

// RecvValue receives a value that SendValue sent. The types need not be the same but must agree as gob asks. From
// ProcNull it gives the zero value. It waits, and may switch threads. Errors as for Recv; ErrType, with gob's reason, for a
// message that is no T.
func RecvValue[T any](c *Comm, source, tag int) (T, Status, error) {
	var v T
	b, st, err := RecvAlloc[byte](c, source, tag)
	if err != nil || source == ProcNull {
		return v, st, err
	}
	if err := decode(b, &v); err != nil {
		var zero T
		return zero, st, fmt.Errorf("mpi: RecvValue: %s, from %s, tag %d: %w", c.who(), peerText(st.Source), st.Tag, err)
	}
	return v, st, nil
}

func decode(b []byte, v any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: gob cannot decode %T: %v", ErrType, v, r)
		}
	}()
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrType, err)
	}
	return nil
}
