package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// dupFree gives a communicator and frees it when f has run on it; it returns the error of Free.
func dupFree(c *Comm, f func(d *Comm) error) (left error, err error) {
	d, err := c.Dup()
	if err != nil {
		return nil, err
	}
	if err := f(d); err != nil {
		return nil, err
	}
	return d.Free(), nil
}

// TestFreeReportsMessages: a message that was not received when its communicator was freed is reported, and no
// communicator that is made later gets it.
func TestFreeReportsMessages(t *testing.T) {
	for _, n := range []int{1, 1000, 100_000} {
		must(t, 2, func(c *Comm) error {
			left, err := dupFree(c, func(d *Comm) error {
				if c.Rank() == 0 {
					if _, err := Isend(d, pattern(n, 0, 1, 5), 1, 5); err != nil {
						return err
					}
					return Send(c, []byte{1}, 1, 7) // the envelope is before it
				}
				_, err := d.Probe(0, 5)
				return err
			})
			if err != nil {
				return err
			}
			if c.Rank() == 1 && (!errors.Is(left, ErrPending) || !strings.Contains(left.Error(), "0 receives, 0 sends, 1 message not received")) {
				return fmt.Errorf("%d bytes: Free says %v", n, left)
			}
			return fresh(c)
		})
	}
}

// fresh makes communicators, which get the lowest ids that are free, and checks that wildcards there meet nothing old.
func fresh(c *Comm) error {
	for range 6 {
		left, err := dupFree(c, func(d *Comm) error {
			in, peer := []int{0}, (c.Rank()+1)%c.Size()
			if _, err := Sendrecv(d, []int{77}, peer, 5, in, AnySource, AnyTag); err != nil || in[0] != 77 {
				return fmt.Errorf("received %v, %v", in, err)
			}
			return nil
		})
		if err := errors.Join(left, err); err != nil {
			return err
		}
	}
	return nil
}

// TestFreeReportsReceives: receives that are posted when their communicator is freed are reported and end; no message
// of another communicator goes there.
func TestFreeReportsReceives(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		in, any := []int{0}, []int{0}
		var rs [2]Request
		left, err := dupFree(c, func(d *Comm) (err error) {
			if c.Rank() == 0 {
				return nil
			}
			if rs[0], err = Irecv(d, in, 0, 5); err == nil {
				rs[1], err = Irecv(d, any, AnySource, AnyTag)
			}
			return err
		})
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			if !errors.Is(left, ErrPending) || !strings.Contains(left.Error(), "2 receives, 0 sends, 0 messages") {
				return fmt.Errorf("Free says %v", left)
			}
			for i := range rs {
				if _, err := rs[i].Wait(); !errors.Is(err, ErrCancelled) {
					return fmt.Errorf("receive %d: %v", i, err)
				}
			}
		}
		if err := fresh(c); err != nil {
			return err
		}
		if in[0] != 0 || any[0] != 0 {
			return fmt.Errorf("the buffers have changed: %v %v", in, any)
		}
		return nil
	})
}

// TestFreeEndsRemoteSend: a send whose receiver frees the communicator without receiving it ends.
func TestFreeEndsRemoteSend(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		var sent error
		_, err := dupFree(c, func(d *Comm) error {
			if c.Rank() == 1 {
				_, err := Recv(c, []int{0}, 0, 3)
				return err
			}
			r, err := Issend(d, []int{1}, 1, 5)
			if err != nil {
				return err
			}
			if err := Send(c, []int{1}, 1, 3); err != nil {
				return err
			}
			_, sent = r.Wait()
			return nil
		})
		if c.Rank() == 0 && (!errors.Is(sent, ErrCancelled) || !strings.Contains(sent.Error(), "freed")) {
			return fmt.Errorf("the send ended with %v", sent)
		}
		return err
	})
}

// TestFreeEarly: one rank frees a communicator long before the others, which go on sending to it; the number of its
// contexts is not used again until they have freed it too.
func TestFreeEarly(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := d.Free(); err != nil && !errors.Is(err, ErrPending) { // some may have come
				return err
			}
		} else { // not received by anyone
			if err := Send(d, []int{13}, 0, 5); err != nil {
				return err
			}
		}
		for range 3 {
			e, err := c.Dup()
			if err != nil {
				return err
			}
			if e.core().ID() == d.core().ID() {
				return errors.New("the contexts are used again while others have not freed them")
			}
			in := []int{0}
			if _, err := Sendrecv(e, []int{1}, (c.Rank()+1)%3, 5, in, (c.Rank()+2)%3, 5); err != nil || in[0] != 1 {
				return fmt.Errorf("received %v, %v", in, err)
			}
			if err := e.Free(); err != nil {
				return err
			}
		}
		if c.Rank() > 0 {
			if err := d.Free(); err != nil {
				return err
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		return fresh(c)
	})
}
