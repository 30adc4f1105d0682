package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// tests are the calls that look at a request and do not block.
var tests = map[string]func(r *Request) (bool, error){
	"Test": func(r *Request) (bool, error) { return third3(r.Test()) },
	"Testall": func(r *Request) (bool, error) {
		rs := []Request{*r}
		ok, err := Testall(rs, nil)
		*r = rs[0]
		return ok, err
	},
	"Testany": func(r *Request) (bool, error) {
		rs := []Request{*r}
		_, _, ok, err := Testany(rs)
		*r = rs[0]
		return ok, err
	},
	"Testsome": func(r *Request) (bool, error) {
		rs := []Request{*r}
		list, _, err := Testsome(rs)
		*r = rs[0]
		return len(list) > 0, err
	},
}

func third3(_ Status, ok bool, err error) (bool, error) { return ok, err }

// TestViewUnderWay: calls that do not block do not, though the context of a view has ended while the bytes of a message
// are still to come. The message is received when its sender goes on.
func TestViewUnderWay(t *testing.T) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMeeting(2)
			must(t, 2, func(c *Comm) error {
				const size, tag = 4 << 20, 3
				if c.Rank() == 0 {
					ctx, end := context.WithCancel(context.Background())
					defer end()
					// The bytes of a send with a context come in pieces.
					r, err := Isend(c.WithContext(ctx), pattern(size, 0, 1, tag), 1, tag)
					m.wait()
					m.wait() // without a poll: nothing moves
					return errors.Join(err, second(r.Wait()))
				}
				m.wait()
				ctx, end := context.WithCancel(context.Background())
				defer end()
				b := make([]byte, size)
				r, err := Irecv(c.WithContext(ctx), b, 0, tag)
				if err == nil {
					c.Proc().Server().Poll() // matched
					end()
					err = returns(func() error {
						if ok, err := test(&r); ok || err != nil {
							return fmt.Errorf("it ended: %v, %w", ok, err)
						}
						return nil
					})
				}
				m.wait()
				if err != nil {
					return err
				}
				for {
					if ok, err := test(&r); err != nil || ok {
						return errors.Join(err, checkPattern(b, 0, 1, tag))
					}
				}
			})
		})
	}
}

// returns is an error if f has not returned after a time that no call takes which does not block.
func returns(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		return errors.New("the call blocks")
	}
}
