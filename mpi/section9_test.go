package mpi

import (
	"context"
	"errors"
	"fmt"
)

// classRule has the class of an error that a call gives.
func classRule(name string, ranks int, want ErrorClass, call func(c *Comm) error) rule {
	return rule{"9.4", "class of " + name, ranks, func(c *Comm) error {
		err := call(c)
		return errors.Join(is("class", Class(err), want), is("text", err != nil && len(err.Error()) > 10, true))
	}}
}

// environmentRules are those of errors, versions of them, and what a process may do when (9.4, 11).
func environmentRules() []rule {
	return []rule{
		classRule("a wrong rank", 2, ClassRank, func(c *Comm) error { return Send(c, one(), 2, 0) }),
		classRule("a wrong tag", 1, ClassTag, func(c *Comm) error { return Send(c, one(), 0, -3) }),
		classRule("a wrong type", 1, ClassType, func(c *Comm) error { return Send(c, []string{""}, 0, 0) }),
		classRule("a wrong root", 3, ClassRoot, func(c *Comm) error { return Bcast(c, one(), 3) }),
		classRule("a wrong operation", 1, ClassOp, func(c *Comm) error { return Allreduce(c, one(), one(), nil) }),
		classRule("a wrong count", 2, ClassCount, func(c *Comm) error { return Allreduce(c, make([]int, 2), one(), Sum) }),
		classRule("a wrong buffer", 1, ClassBuffer, func(c *Comm) error { return Bsend(c, one(), 0, 0) }),
		classRule("a wrong request", 1, ClassRequest, func(*Comm) error { return new(Request).Start() }),
		classRule("a wrong communicator", 1, ClassComm, func(c *Comm) error { return c.Proc().World().Free() }),
		classRule("wrong dimensions", 2, ClassDims, func(c *Comm) error {
			return second(c.CreateCart([]int{3}, nil, false))
		}),
		classRule("no topology", 1, ClassTopology, func(c *Comm) error { return second(c.Cart()) }),
		classRule("a message too long", 1, ClassTruncate, func(c *Comm) error {
			return second(Sendrecv(c, make([]int, 2), 0, 0, make([]int, 1), 0, 0))
		}),
		classRule("a key", 1, ClassKeyval, func(c *Comm) error { return (*Key[int])(nil).Set(c, 1) }),
		classRule("a wrong argument", 1, ClassArg, func(*Comm) error { return DimsCreate(0, nil) }),
		{"9.4", "success has a class", 1, func(*Comm) error { return is("class", Class(nil), ClassSuccess) }},
		{"9.4", "an error of the program", 1, func(*Comm) error { return is("class", Class(errRefused), ClassUnknown) }},
		{"9.4", "an error inside another one", 1, func(c *Comm) error {
			err := fmt.Errorf("more: %w", Send(c, one(), 5, 0))
			return errors.Join(is("class", Class(err), ClassRank), fails("Is", err, ErrRank))
		}},
		{"9.3", "after an error the rank goes on", 4, func(c *Comm) error {
			return errors.Join(fails("Send", Send(c, one(), 9, 0), ErrRank), sumOf(c))
		}},
		{"9.1.2", "the largest tag", 1, func(c *Comm) error {
			return errors.Join(is("enough", TagUB >= 32767, true), fails("beyond", Send(c, one(), 0, TagUB+1), ErrTag))
		}},
		{"11.3.2", "a session's own set", 3, func(c *Comm) error {
			s, err := c.Proc().OpenSession()
			if err != nil {
				return err
			}
			g, err := s.Group(SelfSet)
			return errors.Join(err, listIs("ranks", g.WorldRanks(), []int{c.Rank()}), s.Close())
		}},
		{"3.6", "the buffer of a session", 2, sessionBuffer},
		{"11.3.1", "two sessions", 4, func(c *Comm) error {
			for range 2 {
				s, err := c.Proc().OpenSession()
				if err != nil {
					return err
				}
				g, err := s.Group(WorldSet)
				d, bad := s.CreateComm(g, "twice")
				if err = errors.Join(err, bad); err != nil {
					return err
				}
				if err := errors.Join(sumOf(d), d.Free(), s.Close()); err != nil {
					return err
				}
			}
			return nil
		}},
		{"11.6", "threads of a rank may all communicate", 3, func(c *Comm) error {
			return c.Proc().Parallel(4, func(i int) error {
				b := make([]int, 1)
				_, err := Sendrecv(c, []int{10*c.Rank() + i}, right(c), i, b, left(c), i)
				return errors.Join(err, is("message", b[0], 10*left(c)+i))
			})
		}},
		{"11.6", "a thread that waits does not stop others", 2, func(c *Comm) error {
			peer := 1 - c.Rank()
			return c.Proc().Parallel(2, func(i int) error {
				if i == 0 {
					return second(Recv(c, make([]int, 1), peer, 0))
				}
				return Send(c, one(), peer, 0)
			})
		}},
	}
}

// grequestRules are those of generalized requests (13.2).
func grequestRules() []rule {
	return []rule{
		{"13.2", "a generalized request ends when it is told", 1, func(c *Comm) error {
			r := c.Proc().Grequest(Grequest{Query: func() (Status, error) { return NewStatus(3, 4, 8, false), nil }})
			_, ok, err := r.Test()
			err = errors.Join(err, is("done", ok, false), r.Complete())
			st, bad := r.Wait()
			return errors.Join(err, bad, is("source", st.Source, 3), is("tag", st.Tag, 4), is("null", r.Null(), true))
		}},
		{"13.2", "the query's error is that of the wait", 1, func(c *Comm) error {
			r := c.Proc().Grequest(Grequest{Query: func() (Status, error) { return Status{}, errRefused }})
			return errors.Join(r.Complete(), fails("Wait", done(r, nil), errRefused))
		}},
		{"13.2", "free is called once", 1, func(c *Comm) error {
			freed := 0
			r := c.Proc().Grequest(Grequest{Free: func() error { freed++; return nil }})
			err := errors.Join(r.Complete(), is("before", freed, 0))
			_, bad := r.Wait()
			return errors.Join(err, bad, is("after", freed, 1))
		}},
		{"13.2", "cancel is told whether it has ended", 1, func(c *Comm) error {
			var told []bool
			r := c.Proc().Grequest(Grequest{Cancel: func(complete bool) error { told = append(told, complete); return nil }})
			err := errors.Join(r.Cancel(), r.Complete(), r.Cancel())
			_, bad := r.Wait()
			return errors.Join(err, bad, listIs("told", told, []bool{false, true}))
		}},
		{"13.2", "among other requests", 2, func(c *Comm) error {
			peer := 1 - c.Rank()
			r := c.Proc().Grequest(Grequest{})
			in, err := Irecv(c, make([]int, 1), peer, 0)
			rs := []Request{r, in}
			err = errors.Join(err, Send(c, one(), peer, 0))
			i, _, bad := Waitany(rs)
			err = errors.Join(err, bad, is("first", i, 1), r.Complete(), Waitall(rs, nil))
			return err
		}},
		{"13.2", "only a generalized request can be told", 1, func(c *Comm) error {
			r, err := Irecv(c, make([]int, 1), 0, 0)
			err = errors.Join(err, fails("Complete", r.Complete(), ErrRequest), r.Cancel())
			return errors.Join(err, cancelled(r))
		}},
	}
}

// promiseRules are those of info keys that are promises (7.4.4, 10).
func promiseRules() []rule {
	promised := func(a Assert, f func(d *Comm) error) func(c *Comm) error {
		return func(c *Comm) error {
			d, err := c.DupWith(a)
			if err != nil {
				return err
			}
			return errors.Join(f(d), d.Free())
		}
	}
	exchange := func(d *Comm) error {
		b := make([]int32, 40_000)
		_, err := Sendrecv(d, upTo(int32(d.Rank()), 40_000), right(d), 1, b, left(d), 1)
		return errors.Join(err, listIs("message", b, upTo(int32(left(d)), 40_000)))
	}
	return []rule{
		{"7.4.4", "no any source", 3, promised(Assert{NoAnySource: true}, func(d *Comm) error {
			_, bad := d.Probe(AnySource, 0)
			return errors.Join(fails("Probe", bad, ErrAssert), exchange(d))
		})},
		{"7.4.4", "no any tag", 4, promised(Assert{NoAnyTag: true}, func(d *Comm) error {
			_, bad := Irecv(d, one(), 0, AnyTag)
			return errors.Join(fails("Irecv", bad, ErrAssert), exchange(d))
		})},
		{"7.4.4", "exact lengths", 5, promised(Assert{ExactLength: true}, exchange)},
		{"7.4.4", "all promises", 6, promised(Assert{true, true, true, true}, exchange)},
		{"7.4.4", "overtaking", 2, promised(Assert{AllowOvertaking: true}, exchange)},
		{"7.4.4", "a duplicate has no promises", 2, promised(Assert{NoAnyTag: true}, func(d *Comm) error {
			e, err := d.Dup()
			if err != nil {
				return err
			}
			b := make([]int, 1)
			_, err = Sendrecv(e, []int{4}, right(e), 1, b, left(e), AnyTag)
			return errors.Join(err, is("message", b[0], 4), e.Free())
		})},
		{"7.4.4", "what only some promise does not hold", 2, func(c *Comm) error {
			d, err := c.DupWith(Assert{NoAnyTag: c.Rank() == 0})
			if err != nil {
				return err
			}
			b := make([]int, 1)
			_, err = Sendrecv(d, []int{4}, right(d), 1, b, left(d), AnyTag)
			return errors.Join(err, is("message", b[0], 4), d.Free())
		}},
	}
}

// revoked is a test on a communicator that a rank has revoked, when all have heard of it.
func revoked(f func(d *Comm) error) func(c *Comm) error {
	return func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if c.Rank() == c.Size()-1 {
			err = d.Revoke()
		} else {
			bad := second(Recv(d, one(), c.Size()-1, 0)) // it ends with the news
			err = fails("Recv", bad, ErrRevoked)
		}
		if err != nil {
			return err
		}
		return errors.Join(is("revoked", d.Revoked(), true), f(d), d.Free())
	}
}

// faultRules are those of communicators with failures, while nobody has died (ULFM).
func faultRules() []rule {
	return []rule{
		{"ULFM", "nothing is revoked at first", 2, func(c *Comm) error { return is("revoked", c.Revoked(), false) }},
		{"ULFM", "messages end", 3, revoked(func(d *Comm) error {
			return errors.Join(fails("Send", Send(d, one(), 0, 1), ErrRevoked),
				fails("Recv", second(Recv(d, one(), 0, 1)), ErrRevoked),
				fails("Probe", second(d.Probe(0, 1)), ErrRevoked))
		})},
		{"ULFM", "collectives end", 5, revoked(func(d *Comm) error {
			err := d.Barrier()
			return errors.Join(fails("Barrier", err, ErrRevoked), is("class", Class(err), ClassRevoked))
		})},
		{"ULFM", "an agreement goes on", 4, revoked(func(d *Comm) error {
			v, err := d.Agree(^uint64(1 << d.Rank()))
			return errors.Join(err, is("word", v, ^uint64(15)))
		})},
		{"ULFM", "the living make a new communicator", 6, revoked(func(d *Comm) error {
			e, err := d.Shrink()
			if err != nil {
				return err
			}
			return errors.Join(is("size", e.Size(), 6), is("rank", e.Rank(), d.Rank()), sumOf(e), e.Free())
		})},
		{"ULFM", "other communicators are not touched", 3, func(c *Comm) error {
			return errors.Join(revoked(func(*Comm) error { return nil })(c), sumOf(c))
		}},
		{"ULFM", "an agreement is the and of all words", 7, func(c *Comm) error {
			v, err := c.Agree(0xff &^ (1 << c.Rank()))
			return errors.Join(err, is("word", v, 0x80))
		}},
		{"ULFM", "an agreement that does not wait", 8, func(c *Comm) error {
			v := uint64(1<<c.Rank() | 1<<20)
			return errors.Join(done(c.Iagree(&v)), is("word", v, 1<<20))
		}},
		{"ULFM", "nobody has failed", 3, func(c *Comm) error {
			dead, err := c.GetFailed()
			n, bad := c.AckFailed(0)
			_, worse := c.AckFailed(-1)
			return errors.Join(err, bad, is("dead", len(dead), 0), is("acknowledged", n, 0),
				fails("negative", worse, ErrArgument))
		}},
		{"ULFM", "a shrink without failures keeps all", 5, func(c *Comm) error {
			d, err := c.Shrink()
			if err != nil {
				return err
			}
			return errors.Join(is("size", d.Size(), 5), sumOf(d), d.Free())
		}},
		{"ULFM", "a shrink that does not wait", 2, func(c *Comm) error {
			d, r, err := c.Ishrink()
			if err = errors.Join(err, done(r, nil)); err != nil {
				return err
			}
			return errors.Join(sumOf(d), d.Free())
		}},
		{"ULFM", "a wait with a context leaves messages alone", 1, func(c *Comm) error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			r, err := Irecv(c, one(), 0, 0)
			_, bad := r.WaitContext(ctx)
			return errors.Join(err, fails("WaitContext", bad, ErrCancelled), Send(c, one(), 0, 0), second(Recv(c, one(), 0, 0)))
		}},
	}
}

// sessionBuffer: a session's buffer serves the communicators of its groups and what is made of them, and no others.
func sessionBuffer(c *Comm) error {
	s, err := c.Proc().OpenSession()
	if err != nil {
		return err
	}
	g, err := s.Group(WorldSet)
	if err != nil {
		return err
	}
	g, err = g.Incl(0, 1)
	d, bad := s.CreateComm(g, "buffers")
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	e, err := d.Dup()
	if err != nil {
		return err
	}
	sends := func(x *Comm, want error) error {
		if x.Rank() == 0 {
			if want != nil {
				return fails("Bsend", Bsend(x, one(), 1, 5), want)
			}
			return Bsend(x, one(), 1, 5)
		}
		if want != nil {
			return nil
		}
		return second(Recv(x, make([]int, 1), 0, 5))
	}
	mem := make([]byte, 4096)
	err = errors.Join(sends(d, ErrBuffer), s.AttachBuffer(mem), fails("second", s.AttachBuffer(mem), ErrBuffer),
		sends(d, nil), sends(e, nil), sends(c, ErrBuffer))
	r, bad := s.FlushBuffer()
	err = errors.Join(err, bad, done(r, nil))
	got, bad := s.DetachBuffer()
	err = errors.Join(err, bad, is("length", len(got), 4096), sends(d, ErrBuffer))
	return errors.Join(err, e.Free(), d.Free(), s.Close(), fails("AttachBuffer", s.AttachBuffer(mem), ErrSession))
}
