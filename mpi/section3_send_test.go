package mpi

import (
	"errors"
	"slices"
)

// pairOf has rank 0 do one thing and rank 1 another. Other ranks do nothing.
func pairOf(first, second func(c *Comm) error) func(c *Comm) error {
	return func(c *Comm) error {
		switch c.Rank() {
		case 0:
			return first(c)
		case 1:
			return second(c)
		}
		return nil
	}
}

// sendMode is a way to send. call returns when the buffer may be used again.
type sendMode struct {
	section, name string
	call          func(c *Comm, buf []int32, dest, tag int) error
}

type (
	waitingSend = func(c *Comm, buf []int32, dest, tag int) error
	startedSend = func(c *Comm, buf []int32, dest, tag int) (Request, error)
)

// started waits for what a send starts.
func started(f startedSend) waitingSend {
	return func(c *Comm, buf []int32, dest, tag int) error { return done(f(c, buf, dest, tag)) }
}

// startedOnce starts a persistent send once.
func startedOnce(f startedSend) waitingSend {
	return func(c *Comm, buf []int32, dest, tag int) error {
		r, err := f(c, buf, dest, tag)
		if err != nil {
			return err
		}
		return all(r.Start(), done(r, nil), r.Free())
	}
}

// attached attaches a buffer for a send. The detach waits until the message has left.
func attached(f waitingSend) waitingSend {
	return func(c *Comm, buf []int32, dest, tag int) error {
		if err := c.AttachBuffer(make([]byte, 1<<20)); err != nil {
			return err
		}
		err := f(c, buf, dest, tag)
		_, bad := c.DetachBuffer()
		return errors.Join(err, bad)
	}
}

var sendModes = []sendMode{
	{"3.2.1", "Send", Send[int32]},
	{"3.4", "Ssend", Ssend[int32]},
	{"3.4", "Rsend", Rsend[int32]},
	{"3.4", "Bsend", attached(Bsend[int32])},
	{"3.7.2", "Isend", started(Isend[int32])},
	{"3.7.2", "Issend", started(Issend[int32])},
	{"3.7.2", "Irsend", started(Irsend[int32])},
	{"3.9", "SendInit", startedOnce(SendInit[int32])},
	{"3.9", "SsendInit", startedOnce(SsendInit[int32])},
	{"3.9", "RsendInit", startedOnce(RsendInit[int32])},
	{"3.9", "BsendInit", attached(startedOnce(BsendInit[int32]))},
}

// upTo are n numbers from first on.
func upTo(first int32, n int) []int32 {
	b := make([]int32, n)
	for i := range b {
		b[i] = first + int32(i)
	}
	return b
}

// delivers sends n numbers from each rank to the one behind, whose receive is posted first. One rank sends to itself.
func (m sendMode) delivers(n int) func(c *Comm) error {
	return func(c *Comm) error {
		buf := upTo(-1, n+2)
		r, err := Irecv(c, buf[:n+1], left(c), 5)
		if err != nil {
			return err
		}
		if err := errors.Join(c.Barrier(), m.call(c, upTo(int32(100*c.Rank()), n), right(c), 5)); err != nil {
			return err
		}
		st, err := r.Wait()
		return errors.Join(err, listIs("message", buf[:n], upTo(int32(100*left(c)), n)), is("behind", buf[n], int32(n-1)),
			is("source", st.Source, left(c)), is("tag", st.Tag, 5), is("bytes", st.Bytes(), int64(4*n)))
	}
}

// unexpected sends before the receiver looks: what is sent later on another communicator tells it.
func (m sendMode) unexpected(n int) func(c *Comm) error {
	return func(c *Comm) error {
		if c.Rank() == 0 {
			r, err := Isend(c, []int32{1}, 1, 9)
			return errors.Join(err, done(r, nil), m.call(c, upTo(7, n), 1, 5))
		}
		if c.Rank() > 1 {
			return nil
		}
		_, err := c.Probe(0, 5)
		buf := make([]int32, n)
		_, bad := Recv(c, buf, 0, 5)
		_, worse := Recv(c, make([]int32, 1), 0, 9)
		return errors.Join(err, bad, worse, listIs("message", buf, upTo(7, n)))
	}
}

// sendModeRules are those of each mode of sending (3.2 to 3.10).
func sendModeRules() []rule {
	var rules []rule
	for i, m := range sendModes {
		ready := i == 2 || i == 6 || i == 9
		rules = append(
			rules,
			rule{m.section, m.name + " of few elements", 1 + i%8, m.delivers(3)},
			rule{m.section, m.name + " of many elements", 1 + (i+3)%4, m.delivers(30_000)},
			rule{m.section, m.name + " of no elements", 1 + (i+5)%8, m.delivers(0)},
			rule{m.section, m.name + " to itself", 1, m.delivers(10)},
			rule{"3.10", m.name + " to the null process", 1 + i%3, func(c *Comm) error {
				return m.call(c, []int32{1}, ProcNull, 3)
			}},
			rule{m.section, m.name + " to no rank", 1 + i%2, func(c *Comm) error {
				return errors.Join(fails("size", m.call(c, nil, c.Size(), 0), ErrRank),
					fails("any", m.call(c, nil, AnySource, 0), ErrRank))
			}},
			rule{"3.2.3", m.name + " with no tag", 1 + i%2, func(c *Comm) error {
				return errors.Join(fails("any", m.call(c, nil, 0, AnyTag), ErrTag),
					fails("negative", m.call(c, nil, 0, -7), ErrTag))
			}},
			rule{"3.2.3", m.name + " with the largest tag", 2, pairOf(func(c *Comm) error {
				_, err := Recv(c, make([]byte, 1), 1, 0)
				return errors.Join(err, m.call(c, []int32{6}, 1, TagUB))
			}, func(c *Comm) error {
				buf := make([]int32, 1)
				r, err := Irecv(c, buf, 0, TagUB)
				err = errors.Join(err, Send(c, []byte{1}, 0, 0), done(r, nil))
				return errors.Join(err, is("message", buf[0], 6))
			})},
		)
		if !ready {
			rules = append(rules, rule{"3.4", m.name + " before the receive", 2 + i%3, m.unexpected(4 + 20_000*(i%2))})
		}
	}
	return rules
}

// bufferRules are those of buffers for buffered sends (3.6).
func bufferRules() []rule {
	return []rule{
		{"3.6", "a buffered send without a buffer", 2, func(c *Comm) error {
			return fails("Bsend", Bsend(c, []int{1}, 0, 0), ErrBuffer)
		}},
		{"3.6", "a second buffer", 1, func(c *Comm) error {
			err := errors.Join(c.AttachBuffer(make([]byte, 64)), fails("second", c.AttachBuffer(make([]byte, 64)), ErrBuffer))
			_, bad := c.DetachBuffer()
			return errors.Join(err, bad)
		}},
		{"3.6", "detach gives the buffer", 1, func(c *Comm) error {
			mem := make([]byte, 4096)
			err := c.AttachBuffer(mem)
			got, bad := c.DetachBuffer()
			return errors.Join(err, bad, is("length", len(got), 4096), is("first byte", &got[0], &mem[0]))
		}},
		{"3.6", "a buffer that is too small", 2, func(c *Comm) error {
			err := errors.Join(c.AttachBuffer(make([]byte, 64)), fails("Bsend", Bsend(c, make([]byte, 4096), 0, 0), ErrBuffer))
			_, bad := c.DetachBuffer()
			return errors.Join(err, bad)
		}},
		{"3.6", "detach waits for messages", 2, pairOf(func(c *Comm) error {
			err := errors.Join(c.AttachBuffer(make([]byte, 1<<20)), Bsend(c, upTo(3, 50_000), 1, 1), Send(c, []int{1}, 1, 2))
			_, bad := c.DetachBuffer()
			return errors.Join(err, bad)
		}, func(c *Comm) error {
			buf := make([]int32, 50_000)
			_, err := Recv(c, make([]int, 1), 0, 2)
			_, bad := Recv(c, buf, 0, 1)
			return errors.Join(err, bad, is("equal", slices.Equal(buf, upTo(3, 50_000)), true))
		})},
		{"3.6", "a buffer that grows by itself", 2, pairOf(func(c *Comm) error {
			err := c.AttachBuffer(nil)
			for i := range 20 {
				err = errors.Join(err, Bsend(c, upTo(int32(i), 5000), 1, i))
			}
			_, bad := c.DetachBuffer()
			return errors.Join(err, bad)
		}, func(c *Comm) error {
			buf := make([]int32, 5000)
			var err error
			for i := 19; i >= 0; i-- {
				_, bad := Recv(c, buf, 0, i)
				err = errors.Join(err, bad, is("first", buf[0], int32(i)))
			}
			return err
		})},
		{"3.6", "what was sent may be changed at once", 2, pairOf(func(c *Comm) error {
			buf := upTo(1, 20_000)
			err := errors.Join(c.AttachBuffer(make([]byte, 1<<20)), Bsend(c, buf, 1, 1))
			clear(buf)
			err = errors.Join(err, Send(c, []int{1}, 1, 2))
			_, bad := c.DetachBuffer()
			return errors.Join(err, bad)
		}, func(c *Comm) error {
			_, err := Recv(c, make([]int, 1), 0, 2)
			buf := make([]int32, 20_000)
			_, bad := Recv(c, buf, 0, 1)
			return errors.Join(err, bad, is("equal", slices.Equal(buf, upTo(1, 20_000)), true))
		})},
		{"3.6", "a flush that does not wait", 2, pairOf(func(c *Comm) error {
			err := errors.Join(c.AttachBuffer(make([]byte, 1<<20)), Bsend(c, upTo(1, 20_000), 1, 1))
			r, bad := c.FlushBuffer()
			err = errors.Join(err, bad, done(r, nil))
			_, bad = c.DetachBuffer()
			return errors.Join(err, bad)
		}, func(c *Comm) error {
			_, err := Recv(c, make([]int32, 20_000), 0, 1)
			return err
		})},
		{"3.6", "detach without a buffer", 1, func(c *Comm) error {
			mem, err := c.DetachBuffer()
			return errors.Join(err, is("nothing", mem == nil, true))
		}},
		{"3.6", "room that was used comes back", 2, pairOf(func(c *Comm) error {
			err := c.AttachBuffer(make([]byte, 70_000))
			for i := range 5 {
				err = errors.Join(err, Bsend(c, upTo(0, 16_000), 1, i))
				r, bad := c.FlushBuffer()
				err = errors.Join(err, bad, done(r, nil))
			}
			_, bad := c.DetachBuffer()
			return errors.Join(err, bad)
		}, func(c *Comm) error {
			var err error
			for i := range 5 {
				_, bad := Recv(c, make([]int32, 16_000), 0, i)
				err = errors.Join(err, bad)
			}
			return err
		})},
	}
}
