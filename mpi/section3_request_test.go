package mpi

import (
	"errors"
	"fmt"
)

// later is rank 0 that sends n messages, with tags 0 to n-1, when rank 1 tells it to.
func later(n int) func(c *Comm) error {
	return func(c *Comm) error {
		for i := range n {
			if _, err := Recv(c, make([]int, 1), 1, 1000); err != nil {
				return err
			}
			if err := Send(c, []int{100 + i}, 1, i); err != nil {
				return err
			}
		}
		return nil
	}
}

// tell has rank 0 of later go on.
func tell(c *Comm) error { return Send(c, []int{1}, 0, 1000) }

// posted are receives of n messages of rank 0, with tags 0 to n-1.
func posted(c *Comm, n int) (bufs [][]int, rs []Request, err error) {
	for i := range n {
		b := []int{-1}
		r, bad := Irecv(c, b, 0, i)
		bufs, rs, err = append(bufs, b), append(rs, r), errors.Join(err, bad)
	}
	return bufs, rs, err
}

// completionRules are those of waits and tests (3.7.3 to 3.7.6).
func completionRules() []rule {
	return []rule{
		{"3.7.3", "a wait of the null request", 1, func(*Comm) error {
			var r Request
			st, err := r.Wait()
			return errors.Join(err, is("status", st, empty), is("bytes", st.Bytes(), 0))
		}},
		{"3.7.3", "a test of the null request", 1, func(*Comm) error {
			var r Request
			st, ok, err := r.Test()
			return errors.Join(err, is("status", st, empty), is("done", ok, true))
		}},
		{"3.7.3", "a wait makes a request null", 2, pairOf(later(1), func(c *Comm) error {
			bufs, rs, err := posted(c, 1)
			err = errors.Join(err, tell(c))
			st, bad := rs[0].Wait()
			return errors.Join(err, bad, is("tag", st.Tag, 0), is("message", bufs[0][0], 100), is("null", rs[0].Null(), true))
		})},
		{"3.7.3", "a test of what is not done", 2, pairOf(later(1), func(c *Comm) error {
			_, rs, err := posted(c, 1)
			_, ok, bad := rs[0].Test()
			err = errors.Join(err, bad, is("done", ok, false), is("null", rs[0].Null(), false), tell(c))
			return errors.Join(err, done(rs[0], nil))
		})},
		{"3.7.3", "tests find the end", 2, pairOf(later(1), func(c *Comm) error {
			bufs, rs, err := posted(c, 1)
			err = errors.Join(err, tell(c))
			for ok := false; !ok && err == nil; {
				_, ok, err = rs[0].Test()
			}
			return errors.Join(err, is("message", bufs[0][0], 100), is("null", rs[0].Null(), true))
		})},
		{"3.7.3", "a freed send still arrives", 2, pairOf(func(c *Comm) error {
			r, err := Isend(c, []int{5}, 1, 0)
			return errors.Join(err, r.Free(), is("null", r.Null(), true))
		}, func(c *Comm) error {
			b := []int{0}
			_, err := Recv(c, b, 0, 0)
			return errors.Join(err, is("message", b[0], 5))
		})},
		{"3.7.3", "a free of the null request", 1, func(*Comm) error {
			var r Request
			return fails("Free", r.Free(), ErrRequest)
		}},
		{"3.7.4", "a synchronous send ends with the receive, not before", 2, pairOf(func(c *Comm) error {
			r, err := Issend(c, []int{5}, 1, 0)
			_, ok, bad := r.Test()
			err = errors.Join(err, bad, is("done before the receive", ok, false), Send(c, []int{1}, 1, 1))
			return errors.Join(err, done(r, nil))
		}, func(c *Comm) error {
			_, err := Recv(c, make([]int, 1), 0, 1)
			_, bad := Recv(c, make([]int, 1), 0, 0)
			return errors.Join(err, bad)
		})},
		{"3.7.4", "a standard send ends when its receive has", 2, pairOf(func(c *Comm) error {
			return done(Isend(c, make([]int, 30_000), 1, 0))
		}, func(c *Comm) error {
			_, err := Recv(c, make([]int, 30_000), 0, 0)
			return err
		})},
		{"3.7.5", "Waitall", 2, pairOf(later(4), func(c *Comm) error {
			bufs, rs, err := posted(c, 4)
			st := make([]Status, 4)
			err = errors.Join(err, tell(c), tell(c), tell(c), tell(c), Waitall(rs, st))
			for i := range rs {
				err = errors.Join(err, is("message", bufs[i][0], 100+i), is("tag", st[i].Tag, i), is("null", rs[i].Null(), true))
			}
			return err
		})},
		{"3.7.5", "Waitall of no requests", 1, func(*Comm) error {
			st := make([]Status, 2)
			return errors.Join(Waitall(nil, nil), Waitall(make([]Request, 2), st), is("status", st[1], empty))
		}},
		{"3.7.5", "Waitall has an error of one", 2, pairOf(sends(1, upTo(0, 1), upTo(0, 2), upTo(0, 1)), func(c *Comm) error {
			rs, err := make([]Request, 3), error(nil)
			for i := range rs {
				var bad error
				rs[i], bad = Irecv(c, make([]int32, 1), 0, i)
				err = errors.Join(err, bad)
			}
			st := make([]Status, 3)
			err = errors.Join(err, fails("Waitall", Waitall(rs, st), ErrTruncate), is("first", st[0].Bytes(), 4))
			return errors.Join(err, is("last", st[2].Tag, 2), is("null", rs[0].Null() && rs[1].Null() && rs[2].Null(), true))
		})},
		{"3.7.5", "Waitall with too few statuses", 1, func(*Comm) error {
			return fails("Waitall", Waitall(make([]Request, 2), make([]Status, 1)), ErrCount)
		}},
		{"3.7.5", "Waitany gives the one that is done", 2, pairOf(func(c *Comm) error {
			return errors.Join(Send(c, []int{102}, 1, 2), second(Recv(c, make([]int, 1), 1, 1000)), Send(c, []int{100}, 1, 0))
		}, func(c *Comm) error {
			bufs, rs, err := posted(c, 3)
			i, st, bad := Waitany(rs)
			err = errors.Join(err, bad, is("index", i, 2), is("tag", st.Tag, 2), is("message", bufs[2][0], 102), tell(c))
			i, _, bad = Waitany(rs)
			err = errors.Join(err, bad, is("index", i, 0), is("null", rs[0].Null() && rs[2].Null(), true))
			return errors.Join(err, is("left", rs[1].Null(), false), rs[1].Cancel(), cancelled(rs[1]))
		})},
		{"3.7.5", "Waitany of null requests", 1, func(*Comm) error {
			i, st, err := Waitany(make([]Request, 3))
			j, _, bad := Waitany(nil)
			return errors.Join(err, bad, is("index", i, Undefined), is("none", j, Undefined), is("status", st, empty))
		}},
		{"3.7.5", "Waitsome gives all that are done", 2, pairOf(later(3), func(c *Comm) error {
			_, rs, err := posted(c, 3)
			err = errors.Join(err, tell(c), tell(c), tell(c))
			seen := map[int]int{}
			for len(seen) < 3 && err == nil {
				at, st, bad := Waitsome(rs)
				err = errors.Join(err, bad, is("some", len(at) > 0, true), is("statuses", len(st), len(at)))
				for k, i := range at {
					seen[i]++
					err = errors.Join(err, is("tag", st[k].Tag, i), is("once", seen[i], 1))
				}
			}
			at, _, bad := Waitsome(rs)
			return errors.Join(err, bad, is("none", at == nil, true))
		})},
		{"3.7.5", "Testall is all or nothing", 2, pairOf(later(2), func(c *Comm) error {
			_, rs, err := posted(c, 2)
			err = errors.Join(err, tell(c))
			for ok := false; !ok && err == nil; {
				_, ok, err = rs[0].GetStatus()
			}
			ok, bad := Testall(rs, nil) // the first is done, the second is not
			err = errors.Join(err, bad, is("all", ok, false), is("null", rs[0].Null() || rs[1].Null(), false), tell(c))
			for !ok && err == nil {
				ok, err = Testall(rs, nil)
			}
			return errors.Join(err, is("null", rs[0].Null() && rs[1].Null(), true))
		})},
		{"3.7.5", "Testall of null requests", 1, func(*Comm) error {
			ok, err := Testall(make([]Request, 2), nil)
			return errors.Join(err, is("done", ok, true))
		}},
		{"3.7.5", "Testany finds none, then one", 2, pairOf(later(1), func(c *Comm) error {
			_, rs, err := posted(c, 1)
			i, _, ok, bad := Testany(rs)
			err = errors.Join(err, bad, is("found", ok, false), is("index", i, Undefined), tell(c))
			for !ok && err == nil {
				i, _, ok, err = Testany(rs)
			}
			return errors.Join(err, is("index", i, 0), is("null", rs[0].Null(), true))
		})},
		{"3.7.5", "Testany of null requests", 1, func(*Comm) error {
			i, st, ok, err := Testany(make([]Request, 2))
			return errors.Join(err, is("index", i, Undefined), is("found", ok, true), is("status", st, empty))
		}},
		{"3.7.5", "Testsome finds none, then some", 2, pairOf(later(2), func(c *Comm) error {
			_, rs, err := posted(c, 2)
			at, _, bad := Testsome(rs)
			err = errors.Join(err, bad, is("done", len(at), 0), tell(c), tell(c))
			for n := 0; n < 2 && err == nil; n += len(at) {
				at, _, err = Testsome(rs)
			}
			return errors.Join(err, is("null", rs[0].Null() && rs[1].Null(), true))
		})},
		{"3.7.5", "Testsome of null requests", 1, func(*Comm) error {
			at, _, err := Testsome(make([]Request, 2))
			return errors.Join(err, is("indices", len(at), 0))
		}},
		{"3.7.6", "a look at a request does not end it", 2, pairOf(later(1), func(c *Comm) error {
			_, rs, err := posted(c, 1)
			_, ok, bad := rs[0].GetStatus()
			err = errors.Join(err, bad, is("done", ok, false), tell(c))
			st := Status{}
			for !ok && err == nil {
				st, ok, err = rs[0].GetStatus()
			}
			err = errors.Join(err, is("bytes", st.Bytes(), 8), is("null", rs[0].Null(), false))
			more, bad := rs[0].Wait()
			return errors.Join(err, bad, is("status", more, st))
		})},
		{"3.7.6", "a look at the null request", 1, func(*Comm) error {
			var r Request
			st, ok, err := r.GetStatus()
			return errors.Join(err, is("done", ok, true), is("status", st, empty))
		}},
	}
}

// lastingSends make persistent sends.
var lastingSends = map[string]startedSend{
	"SendInit": SendInit[int32], "SsendInit": SsendInit[int32], "BsendInit": BsendInit[int32],
	"RsendInit": RsendInit[int32],
}

// persistentRules are those of persistent requests (3.9).
func persistentRules() []rule {
	var rules []rule
	for i, name := range []string{"SendInit", "SsendInit", "BsendInit", "RsendInit"} {
		initial := lastingSends[name]
		again := name + " and RecvInit, started again and again"
		rules = append(rules, rule{"3.9", again, 1 + (2+i*2)%8, func(c *Comm) error {
			out, in := make([]int32, 50), make([]int32, 50)
			err := c.AttachBuffer(make([]byte, 1<<16))
			s, bad := initial(c, out, right(c), 1)
			r, worse := RecvInit(c, in, left(c), 1)
			for round := range 5 {
				if err = errors.Join(err, bad, worse); err != nil {
					return err
				}
				copy(out, upTo(int32(round*100+c.Rank()), 50))
				err = errors.Join(r.Start(), c.Barrier(), s.Start(), Waitall([]Request{s, r}, nil),
					listIs("message", in, upTo(int32(round*100+left(c)), 50)))
			}
			_, bad = c.DetachBuffer()
			return errors.Join(err, bad, s.Free(), r.Free())
		}})
	}
	return append(rules, []rule{
		{"3.9", "an inactive request counts as null", 1, func(c *Comm) error {
			r, err := RecvInit(c, make([]int, 1), 0, 0)
			st, bad := r.Wait()
			_, ok, worse := r.Test()
			i, _, worst := Waitany([]Request{r})
			return errors.Join(err, bad, worse, worst, is("status", st, empty), is("Test", ok, true),
				is("Waitany", i, Undefined),
				is("null", r.Null(), false), r.Free())
		}},
		{"3.9", "a start while it is active", 1, func(c *Comm) error {
			r, err := RecvInit(c, make([]int, 1), 0, 0)
			err = errors.Join(err, r.Start(), fails("Start", r.Start(), ErrRequest), Send(c, []int{1}, 0, 0))
			return errors.Join(err, done(r, nil), r.Free())
		}},
		{"3.9", "a start of what is not persistent", 1, func(c *Comm) error {
			r, err := Irecv(c, make([]int, 1), 0, 0)
			err = errors.Join(err, fails("Start", r.Start(), ErrRequest), Send(c, []int{1}, 0, 0), done(r, nil))
			var null Request
			return errors.Join(err, fails("null", null.Start(), ErrRequest))
		}},
		{"3.9", "StartAll", 3, func(c *Comm) error {
			var rs []Request
			in := make([][]int, 4)
			for i := range in {
				in[i] = make([]int, 1)
				r, err := RecvInit(c, in[i], left(c), i)
				s, bad := SendInit(c, []int{10*c.Rank() + i}, right(c), i)
				if err = errors.Join(err, bad); err != nil {
					return err
				}
				rs = append(rs, r, s)
			}
			err := errors.Join(StartAll(rs), Waitall(rs, nil))
			for i := range in {
				err = errors.Join(err, is("message", in[i][0], 10*left(c)+i))
			}
			for i := range rs {
				err = errors.Join(err, is("null", rs[i].Null(), false), rs[i].Free())
			}
			return err
		}},
		{"3.9", "a persistent receive meets any send", 2, pairOf(func(c *Comm) error {
			return errors.Join(Send(c, []int32{1}, 1, 5), Ssend(c, []int32{2}, 1, 6))
		}, func(c *Comm) error {
			buf := make([]int32, 1)
			r, err := RecvInit(c, buf, AnySource, AnyTag)
			for i := range 2 {
				err = errors.Join(err, r.Start())
				st, bad := r.Wait()
				err = errors.Join(err, bad, is("message", buf[0], int32(i+1)), is("tag", st.Tag, 5+i), is("source", st.Source, 0))
			}
			return errors.Join(err, r.Free())
		})},
		{"3.9", "persistent with the null process", 1, func(c *Comm) error {
			r, err := RecvInit(c, make([]int, 1), ProcNull, 0)
			err = errors.Join(err, r.Start())
			st, bad := r.Wait()
			return errors.Join(err, bad, is("status", st, nullStatus), r.Free())
		}},
		{"3.9", "a persistent buffered send without a buffer", 1, func(c *Comm) error {
			r, err := BsendInit(c, []int{1}, 0, 0)
			return errors.Join(err, fails("Start", r.Start(), ErrBuffer), r.Free())
		}},
		{"3.9", "a truncated persistent receive can be started again", 2, pairOf(
			sends(1, upTo(0, 3), upTo(5, 1)),
			func(c *Comm) error {
				buf := make([]int32, 1)
				r, err := RecvInit(c, buf, 0, AnyTag)
				err = errors.Join(err, r.Start(), fails("Wait", done(r, nil), ErrTruncate), r.Start(), done(r, nil))
				return errors.Join(err, is("message", buf[0], 5), r.Free())
			},
		)},
		{"3.9", "a freed request is null", 1, func(c *Comm) error {
			r, err := SendInit(c, []int{1}, 0, 0)
			return errors.Join(err, r.Free(), is("null", r.Null(), true))
		}},
	}...)
}

// statusRules are those of statuses and counts (3.2.5, 3.2.6).
func statusRules() []rule {
	var rules []rule
	for i, n := range []int{0, 1, 7, 70_000} {
		rules = append(rules, rule{"3.2.5", fmt.Sprintf("a count of %d elements", n), 2 + i, pairOf(func(c *Comm) error {
			return Send(c, upTo(0, n), 1, 3)
		}, func(c *Comm) error {
			st, err := c.Probe(0, 3)
			got, bad := Count[int32](st)
			wide, worse := Recv(c, make([]int32, n+2), AnySource, AnyTag)
			again, worst := Count[int32](wide)
			return errors.Join(err, bad, worse, worst, is("probed", got, n), is("received", again, n), is("status", wide, st))
		})})
	}
	return append(rules, []rule{
		{"3.2.5", "a count that is no whole number", 1, func(*Comm) error {
			n, err := Count[int64](NewStatus(0, 0, 12, false))
			return errors.Join(fails("Count", err, ErrCount), is("count", n, Undefined))
		}},
		{"3.2.5", "a count of other elements", 1, func(*Comm) error {
			n, err := Count[[3]int32](NewStatus(0, 0, 24, false))
			m, bad := Count[byte](NewStatus(0, 0, 24, false))
			return errors.Join(err, bad, is("triples", n, 2), is("bytes", m, 24))
		}},
		{"3.2.5", "an empty message has no elements of any type", 1, func(*Comm) error {
			n, err := Count[[9]int64](NewStatus(0, 0, 0, false))
			return errors.Join(err, is("count", n, 0))
		}},
		{"3.2.5", "a status that was set", 1, func(*Comm) error {
			st := NewStatus(3, 4, 16, true)
			return errors.Join(is("source", st.Source, 3), is("tag", st.Tag, 4), is("bytes", st.Bytes(), 16),
				is("cancelled", st.Cancelled(), true))
		}},
		{"3.2.5", "the status of a send is empty of cancelling", 1, func(c *Comm) error {
			r, err := Irecv(c, make([]int, 1), 0, 0)
			s, bad := Isend(c, []int{1}, 0, 0)
			st := make([]Status, 2)
			return errors.Join(err, bad, Waitall([]Request{r, s}, st), is("send", st[1].Cancelled(), false),
				is("receive", st[0].Cancelled(), false))
		}},
	}...)
}
