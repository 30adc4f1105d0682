package mpi

import "errors"

// probeRules are those of probes and of messages that a probe takes (3.8.1 to 3.8.3).
func probeRules() []rule {
	return []rule{
		{"3.8.1", "a probe tells what comes, and leaves it", 2, pairOf(sends(1, upTo(4, 3)), func(c *Comm) error {
			st, err := c.Probe(0, 0)
			again, bad := c.Probe(AnySource, AnyTag)
			return errors.Join(err, bad, is("bytes", st.Bytes(), 12), is("tag", st.Tag, 0), is("again", again, st),
				receives(c, 3, 0, 0, upTo(4, 3), 0, 0))
		})},
		{"3.8.1", "a probe looks for its tag", 2, pairOf(sends(1, upTo(0, 1), upTo(0, 2), upTo(0, 3)), func(c *Comm) error {
			st, err := c.Probe(0, 2)
			err = errors.Join(err, is("bytes", st.Bytes(), 12))
			for i := range 3 {
				err = errors.Join(err, receives(c, 3, 0, i, upTo(0, i+1), 0, i))
			}
			return err
		})},
		{"3.8.1", "a probe that does not wait finds nothing", 1, func(c *Comm) error {
			_, ok, err := c.Iprobe(AnySource, AnyTag)
			return errors.Join(err, is("found", ok, false))
		}},
		{"3.8.1", "probes that do not wait find it in the end", 3, func(c *Comm) error {
			if c.Rank() > 0 {
				return Send(c, upTo(0, c.Rank()), 0, c.Rank())
			}
			var err error
			for r := 2; r > 0; r-- {
				var st Status
				for ok := false; !ok && err == nil; {
					st, ok, err = c.Iprobe(r, AnyTag)
				}
				err = errors.Join(err, is("tag", st.Tag, r), receives(c, r, r, r, upTo(0, r), r, r))
			}
			return err
		}},
		{"3.8.1", "a probe of a long message", 2, pairOf(sends(1, upTo(0, 60_000)), func(c *Comm) error {
			st, err := c.Probe(AnySource, 0)
			return errors.Join(err, is("bytes", st.Bytes(), 240_000), receives(c, 60_000, 0, 0, upTo(0, 60_000), 0, 0))
		})},
		{"3.8.1", "what any source finds can be received from it", 4, func(c *Comm) error {
			if c.Rank() > 0 {
				return Send(c, upTo(0, c.Rank()), 0, 7)
			}
			var err error
			for range 3 {
				st, bad := c.Probe(AnySource, 7)
				if err = errors.Join(err, bad); err == nil {
					err = receives(c, st.Source, st.Source, st.Tag, upTo(0, st.Source), st.Source, 7)
				}
			}
			return err
		}},
		{"3.8.1", "a probe of no rank", 2, func(c *Comm) error {
			_, err := c.Probe(2, 0)
			_, _, bad := c.Iprobe(-5, 0)
			_, worse := c.Probe(0, -5)
			return errors.Join(fails("Probe", err, ErrRank), fails("Iprobe", bad, ErrRank), fails("tag", worse, ErrTag))
		}},
		{"3.8.1", "a probe does not find what a receive has", 1, func(c *Comm) error {
			r, err := Irecv(c, make([]int, 1), 0, 0)
			err = errors.Join(err, Send(c, []int{1}, 0, 0))
			_, ok, bad := c.Iprobe(AnySource, AnyTag)
			return errors.Join(err, bad, is("found", ok, false), done(r, nil))
		}},
		{"3.8.2", "a taken message is for nobody else", 2, pairOf(sends(1, upTo(1, 1), upTo(2, 1)), func(c *Comm) error {
			m, err := c.Mprobe(0, AnyTag)
			err = errors.Join(err, receives(c, 1, 0, AnyTag, upTo(2, 1), 0, 1))
			buf := make([]int32, 1)
			st, bad := Mrecv(m, buf)
			return errors.Join(err, bad, is("message", buf[0], 1), is("tag", st.Tag, 0))
		})},
		{"3.8.2", "messages keep their order", 2, pairOf(sends(1, upTo(1, 1), upTo(2, 1), upTo(3, 1)), func(c *Comm) error {
			var ms [3]*Message
			var err error
			for i := range ms {
				var bad error
				ms[i], bad = c.Mprobe(AnySource, AnyTag)
				err = errors.Join(err, bad, is("tag", ms[i].Status().Tag, i))
			}
			for i := 2; i >= 0; i-- {
				buf := make([]int32, 1)
				_, bad := Mrecv(ms[i], buf)
				err = errors.Join(err, bad, is("message", buf[0], int32(i+1)))
			}
			return err
		})},
		{"3.8.2", "a matched probe that does not wait finds nothing", 1, func(c *Comm) error {
			m, err := c.Improbe(AnySource, AnyTag)
			return errors.Join(err, is("nothing", m == nil, true))
		}},
		{"3.8.2", "matched probes that do not wait find it in the end", 2, pairOf(sends(1, upTo(8, 2)), func(c *Comm) error {
			var m *Message
			var err error
			for m == nil && err == nil {
				m, err = c.Improbe(0, 0)
			}
			if err != nil {
				return err
			}
			buf := make([]int32, 2)
			_, err = Mrecv(m, buf)
			return errors.Join(err, is("bytes", m.Status().Bytes(), 8), listIs("message", buf, upTo(8, 2)))
		})},
		{"3.8.3", "a long message that was taken", 2, pairOf(sends(1, upTo(8, 50_000)), func(c *Comm) error {
			m, err := c.Mprobe(AnySource, 0)
			if err != nil {
				return err
			}
			buf := make([]int32, 50_000)
			r, err := Imrecv(m, buf)
			return errors.Join(err, done(r, nil), listIs("message", buf, upTo(8, 50_000)))
		})},
		{"3.8.3", "a message can be received once", 1, func(c *Comm) error {
			s, err := Isend(c, []int{1}, 0, 0)
			m, bad := c.Mprobe(0, 0)
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			_, err = Mrecv(m, make([]int, 1))
			_, bad = Mrecv(m, make([]int, 1))
			return errors.Join(err, fails("again", bad, ErrRequest), done(s, nil))
		}},
		{"3.8.3", "no message", 1, func(*Comm) error {
			_, err := Mrecv(nil, make([]int, 1))
			return fails("Mrecv", err, ErrRequest)
		}},
		{"3.8.3", "a taken message that is too long", 2, pairOf(sends(1, upTo(8, 3)), func(c *Comm) error {
			m, err := c.Mprobe(0, 0)
			_, bad := Mrecv(m, make([]int32, 2))
			return errors.Join(err, fails("Mrecv", bad, ErrTruncate))
		})},
		{"3.8.3", "a synchronous send ends when its message has been received", 2, pairOf(func(c *Comm) error {
			r, err := Issend(c, []int32{5}, 1, 0)
			err = errors.Join(err, done(r, nil))
			return errors.Join(err, Send(c, []int32{6}, 1, 1))
		}, func(c *Comm) error {
			m, err := c.Mprobe(0, 0)
			_, bad := Mrecv(m, make([]int32, 1))
			return errors.Join(err, bad, receives(c, 1, 0, 1, []int32{6}, 0, 1))
		})},
	}
}

// cancelled checks that a request was cancelled.
func cancelled(r Request) error {
	st, err := r.Wait()
	return errors.Join(fails("Wait", err, ErrCancelled), is("cancelled", st.Cancelled(), true))
}

// cancelRules are those of cancelled operations (3.8.4).
func cancelRules() []rule {
	return []rule{
		{"3.8.4", "a receive that nothing matches", 2, func(c *Comm) error {
			r, err := Irecv(c, make([]int, 1), AnySource, 3)
			return errors.Join(err, r.Cancel(), cancelled(r))
		}},
		{"3.8.4", "a cancelled receive takes no message", 1, func(c *Comm) error {
			buf := []int32{-1}
			r, err := Irecv(c, buf, 0, 3)
			err = errors.Join(err, r.Cancel(), cancelled(r), Send(c, []int32{4}, 0, 3))
			return errors.Join(err, receives(c, 1, 0, 3, []int32{4}, 0, 3), is("buffer", buf[0], -1))
		}},
		{"3.8.4", "a receive that has its message", 1, func(c *Comm) error {
			buf := []int{0}
			r, err := Irecv(c, buf, 0, 3)
			err = errors.Join(err, Send(c, []int{4}, 0, 3))
			for ok := false; !ok && err == nil; {
				_, ok, err = r.GetStatus()
			}
			err = errors.Join(err, r.Cancel())
			st, bad := r.Wait()
			return errors.Join(err, bad, is("cancelled", st.Cancelled(), false), is("message", buf[0], 4))
		}},
		{"3.8.4", "a later receive gets the message", 2, pairOf(func(c *Comm) error {
			_, err := Recv(c, make([]int, 1), 1, 0)
			return errors.Join(err, Send(c, []int{4}, 1, 3))
		}, func(c *Comm) error {
			a, b := []int{0}, []int{0}
			ra, err := Irecv(c, a, 0, 3)
			rb, bad := Irecv(c, b, 0, 3)
			err = errors.Join(err, bad, ra.Cancel(), cancelled(ra), Send(c, []int{1}, 0, 0), done(rb, nil))
			return errors.Join(err, is("first", a[0], 0), is("second", b[0], 4))
		})},
		{"3.8.4", "a persistent receive can be started after it", 1, func(c *Comm) error {
			buf := []int{0}
			r, err := RecvInit(c, buf, 0, 3)
			err = errors.Join(err, r.Start(), r.Cancel(), cancelled(r), r.Start(), Send(c, []int{4}, 0, 3), done(r, nil))
			return errors.Join(err, is("message", buf[0], 4), r.Free())
		}},
		{"3.8.4", "the null request", 1, func(*Comm) error {
			var r Request
			return fails("Cancel", r.Cancel(), ErrRequest)
		}},
		{"3.8.4", "a cancelled receive among others", 2, pairOf(later(1), func(c *Comm) error {
			_, rs, err := posted(c, 2)
			st := make([]Status, 2)
			err = errors.Join(err, rs[1].Cancel(), tell(c), fails("Waitall", Waitall(rs, st), ErrCancelled))
			return errors.Join(err, is("first", st[0].Cancelled(), false), is("second", st[1].Cancelled(), true))
		})},
		{"3.8.4", "a test finds it", 1, func(c *Comm) error {
			r, err := Irecv(c, make([]int, 1), 0, 3)
			err = errors.Join(err, r.Cancel())
			var st Status
			for ok := false; !ok && err == nil; {
				st, ok, err = r.Test()
			}
			return errors.Join(fails("Test", err, ErrCancelled), is("cancelled", st.Cancelled(), true))
		}},
	}
}
