package mpi

import (
	"errors"
	"fmt"
	"slices"
)

// sends is a rank that sends lists, with tags 0, 1 and so on.
func sends(dest int, lists ...[]int32) func(c *Comm) error {
	return func(c *Comm) error {
		for tag, l := range lists {
			if err := Send(c, l, dest, tag); err != nil {
				return err
			}
		}
		return nil
	}
}

// receives checks a receive of what one list says, into a buffer of n elements.
func receives(c *Comm, n, source, tag int, want []int32, from, wantTag int) error {
	buf := make([]int32, n)
	st, err := Recv(c, buf, source, tag)
	return errors.Join(err, listIs("message", buf[:len(want)], want), is("source", st.Source, from),
		is("tag", st.Tag, wantTag),
		is("bytes", st.Bytes(), int64(4*len(want))))
}

// receiveRules are those of receives: wildcards, lengths, the null process (3.2.4, 3.2.5, 3.10).
func receiveRules() []rule {
	return []rule{
		{"3.2.4", "a receive with any tag", 2, pairOf(sends(1, []int32{4}), func(c *Comm) error {
			return receives(c, 1, 0, AnyTag, []int32{4}, 0, 0)
		})},
		{"3.2.4", "a receive from any source", 2, pairOf(sends(1, []int32{4}), func(c *Comm) error {
			return receives(c, 1, AnySource, 0, []int32{4}, 0, 0)
		})},
		{"3.2.4", "a receive of anything", 2, pairOf(sends(1, []int32{4, 5}), func(c *Comm) error {
			return receives(c, 2, AnySource, AnyTag, []int32{4, 5}, 0, 0)
		})},
		{"3.2.4", "a tag selects its message", 2, pairOf(sends(1, []int32{1}, []int32{2}, []int32{3}), func(c *Comm) error {
			return errors.Join(receives(c, 1, 0, 2, []int32{3}, 0, 2), receives(c, 1, 0, 1, []int32{2}, 0, 1),
				receives(c, 1, 0, 0, []int32{1}, 0, 0))
		})},
		{"3.2.4", "a source selects among ranks", 5, func(c *Comm) error {
			if c.Rank() > 0 {
				return Send(c, []int32{int32(c.Rank())}, 0, 1)
			}
			var err error
			for r := 4; r > 0; r-- {
				err = errors.Join(err, receives(c, 1, r, 1, []int32{int32(r)}, r, 1))
			}
			return err
		}},
		{"3.2.4", "any source gets each message once", 7, func(c *Comm) error {
			if c.Rank() > 0 {
				return Send(c, []int{c.Rank()}, 0, 1)
			}
			var got []int
			for range 6 {
				b := []int{0}
				st, err := Recv(c, b, AnySource, 1)
				if err = errors.Join(err, is("sender", b[0], st.Source)); err != nil {
					return err
				}
				got = append(got, b[0])
			}
			slices.Sort(got)
			return listIs("senders", got, []int{1, 2, 3, 4, 5, 6})
		}},
		{"3.2.4", "a shorter message", 2, pairOf(sends(1, []int32{4}), func(c *Comm) error {
			buf := []int32{-1, -1, -1}
			st, err := Recv(c, buf, 0, 0)
			n, bad := Count[int32](st)
			return errors.Join(err, bad, is("count", n, 1), listIs("buffer", buf, []int32{4, -1, -1}))
		})},
		{"3.2.4", "a longer message, short", 2, pairOf(sends(1, []int32{4, 5, 6}, []int32{7}), func(c *Comm) error {
			buf := []int32{-1, -1, -1}
			_, err := Recv(c, buf[:2], 0, 0)
			return errors.Join(fails("Recv", err, ErrTruncate), is("class", Class(err), ClassTruncate), is("behind", buf[2], -1),
				receives(c, 1, 0, 1, []int32{7}, 0, 1))
		})},
		{"3.2.4", "a longer message, long", 2, pairOf(sends(1, upTo(0, 90_000), []int32{7}), func(c *Comm) error {
			buf := upTo(-9, 50_001)
			_, err := Recv(c, buf[:50_000], 0, 0)
			return errors.Join(fails("Recv", err, ErrTruncate), is("behind", buf[50_000], 49_991),
				receives(c, 1, 0, 1, []int32{7}, 0, 1))
		})},
		{"3.2.4", "a longer message for a receive that was there first", 2, pairOf(func(c *Comm) error {
			_, err := Recv(c, make([]int32, 1), 1, 1)
			return errors.Join(err, Send(c, upTo(0, 10), 1, 0))
		}, func(c *Comm) error {
			buf := upTo(50, 10)
			r, err := Irecv(c, buf[:9], 0, 0)
			err = errors.Join(err, Send(c, upTo(0, 1), 0, 1))
			_, bad := r.Wait()
			return errors.Join(err, fails("Wait", bad, ErrTruncate), is("behind", buf[9], 59), is("null", r.Null(), true))
		})},
		{"3.2.4", "an empty message into no buffer", 3, func(c *Comm) error {
			r, err := Irecv[int32](c, nil, left(c), 1)
			err = errors.Join(err, Send[int32](c, nil, right(c), 1))
			st, bad := r.Wait()
			return errors.Join(err, bad, is("bytes", st.Bytes(), 0), is("source", st.Source, left(c)))
		}},
		{"3.2.4", "a full message for an empty buffer", 2, pairOf(sends(1, []int32{4}), func(c *Comm) error {
			_, err := Recv[int32](c, nil, 0, 0)
			return fails("Recv", err, ErrTruncate)
		})},
		{"3.2.4", "a receive from no rank", 2, func(c *Comm) error {
			_, a := Recv(c, make([]int, 1), 2, 0)
			_, b := Irecv(c, make([]int, 1), -9, 0)
			_, d := RecvInit(c, make([]int, 1), 2, 0)
			return errors.Join(fails("Recv", a, ErrRank), fails("Irecv", b, ErrRank), fails("RecvInit", d, ErrRank))
		}},
		{"3.2.4", "a receive of no tag", 1, func(c *Comm) error {
			_, a := Recv(c, make([]int, 1), 0, -7)
			_, b := Irecv(c, make([]int, 1), 0, -8)
			return errors.Join(fails("Recv", a, ErrTag), fails("Irecv", b, ErrTag), is("class", Class(a), ClassTag))
		}},
		{"3.10", "a receive from the null process", 2, func(c *Comm) error {
			buf := []int32{8}
			st, err := Recv(c, buf, ProcNull, 3)
			return errors.Join(err, is("status", st, nullStatus), is("buffer", buf[0], 8))
		}},
		{"3.10", "a started receive from the null process", 1, func(c *Comm) error {
			r, err := Irecv(c, []int{1}, ProcNull, 3)
			st, bad := r.Wait()
			return errors.Join(err, bad, is("status", st, nullStatus))
		}},
		{"3.10", "a probe of the null process", 1, func(c *Comm) error {
			st, err := c.Probe(ProcNull, 3)
			more, ok, bad := c.Iprobe(ProcNull, AnyTag)
			return errors.Join(err, bad, is("Probe", st, nullStatus), is("Iprobe", more, nullStatus), is("found", ok, true))
		}},
		{"3.10", "a matched probe of the null process", 1, func(c *Comm) error {
			m, err := c.Mprobe(ProcNull, 3)
			if err != nil {
				return err
			}
			st, err := Mrecv(m, make([]int, 1))
			return errors.Join(err, is("status", st, nullStatus))
		}},
		{"3.2.2", "elements of each size", 2, pairOf(func(c *Comm) error {
			return errors.Join(Send(c, []int8{1}, 1, 0), Send(c, []uint16{2}, 1, 1), Send(c, []float32{3}, 1, 2),
				Send(c, []complex128{4i}, 1, 3), Send(c, []bool{true}, 1, 4), Send(c, []struct{ A, B int16 }{{5, 6}}, 1, 5))
		}, func(c *Comm) error {
			a, b, d := make([]int8, 1), make([]uint16, 1), make([]float32, 1)
			e, f, g := make([]complex128, 1), make([]bool, 1), make([]struct{ A, B int16 }, 1)
			err := errors.Join(second(Recv(c, a, 0, 0)), second(Recv(c, b, 0, 1)), second(Recv(c, d, 0, 2)),
				second(Recv(c, e, 0, 3)), second(Recv(c, f, 0, 4)), second(Recv(c, g, 0, 5)))
			return errors.Join(err, is("int8", a[0], 1), is("uint16", b[0], 2), is("float32", d[0], 3),
				is("complex128", e[0], 4i),
				is("bool", f[0], true), is("struct", g[0], struct{ A, B int16 }{5, 6}))
		})},
		{"3.3.1", "elements that cannot travel", 1, func(c *Comm) error {
			return errors.Join(fails("Send", Send(c, []string{"a"}, 0, 0), ErrType),
				fails("Recv", second(Recv(c, make([]*int, 1), 0, 0)), ErrType))
		}},
		{"3.2.3", "a communicator is a space of its own", 2, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			if c.Rank() == 0 {
				err = errors.Join(Send(c, []int32{1}, 1, 0), Send(d, []int32{2}, 1, 0))
			} else {
				err = errors.Join(receives(d, 1, AnySource, AnyTag, []int32{2}, 0, 0),
					receives(c, 1, AnySource, AnyTag, []int32{1}, 0, 0))
			}
			return errors.Join(err, d.Free())
		}},
		{"3.2.3", "a freed communicator", 1, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			err = d.Free()
			_, bad := Recv(d, make([]int, 1), 0, 0)
			return errors.Join(err, fails("Send", Send(d, []int{1}, 0, 0), ErrComm), fails("Recv", bad, ErrComm))
		}},
		{"3.2.3", "ranks are those of the communicator", 6, func(c *Comm) error {
			d, err := c.Split(c.Rank()%2, -c.Rank())
			if err != nil {
				return err
			}
			r, err := Irecv(d, make([]int, 1), AnySource, 0)
			err = errors.Join(err, Send(d, []int{d.Rank()}, right(d), 0))
			st, bad := r.Wait()
			return errors.Join(err, bad, is("source", st.Source, left(d)), d.Free())
		}},
	}
}

// orderRules are those of order and progress (3.5).
func orderRules() []rule {
	rules := []rule{
		{"3.5", "a receive that was posted first is served first", 2, pairOf(func(c *Comm) error {
			_, err := Recv(c, make([]int32, 1), 1, 9)
			return errors.Join(err, Send(c, []int32{1}, 1, 0), Send(c, []int32{2}, 1, 0))
		}, func(c *Comm) error {
			a, b := make([]int32, 1), make([]int32, 1)
			ra, err := Irecv(c, a, 0, AnyTag)
			rb, bad := Irecv(c, b, AnySource, 0)
			err = errors.Join(err, bad, Send(c, []int32{0}, 0, 9), Waitall([]Request{rb, ra}, nil))
			return errors.Join(err, is("first", a[0], 1), is("second", b[0], 2))
		})},
		{"3.5", "long and short messages keep their order", 2, pairOf(func(c *Comm) error {
			a, err := Isend(c, upTo(1, 80_000), 1, 0)
			b, bad := Isend(c, upTo(2, 1), 1, 0)
			d, worse := Isend(c, upTo(3, 80_000), 1, 0)
			return errors.Join(err, bad, worse, Waitall([]Request{a, b, d}, nil))
		}, func(c *Comm) error {
			var err error
			for i := range 3 {
				buf := make([]int32, 80_000)
				_, bad := Recv(c, buf, 0, 0)
				err = errors.Join(err, bad, is("message", buf[0], int32(i+1)))
			}
			return err
		})},
		{"3.5", "two tags are served in any order", 2, pairOf(func(c *Comm) error {
			a, err := Isend(c, upTo(1, 80_000), 1, 1)
			b, bad := Isend(c, upTo(2, 80_000), 1, 2)
			return errors.Join(err, bad, Waitall([]Request{a, b}, nil))
		}, func(c *Comm) error {
			return errors.Join(receives(c, 80_000, 0, 2, upTo(2, 80_000), 0, 2),
				receives(c, 80_000, 0, 1, upTo(1, 80_000), 0, 1))
		})},
		{"3.5", "a wildcard does not take what an earlier receive is for", 2, pairOf(func(c *Comm) error {
			_, err := Recv(c, make([]int32, 1), 1, 9)
			return errors.Join(err, Send(c, []int32{7}, 1, 3), Send(c, []int32{8}, 1, 4))
		}, func(c *Comm) error {
			a, b := make([]int32, 1), make([]int32, 1)
			ra, err := Irecv(c, a, 0, 3)
			rb, bad := Irecv(c, b, AnySource, AnyTag)
			err = errors.Join(err, bad, Send(c, []int32{0}, 0, 9), Waitall([]Request{ra, rb}, nil))
			return errors.Join(err, is("tag 3", a[0], 7), is("any", b[0], 8))
		})},
		{"3.5", "started sends of all modes keep their order", 2, pairOf(func(c *Comm) error {
			var rs []Request
			for i := range 9 {
				r, err := []startedSend{Isend[int32], Issend[int32], Irsend[int32]}[i%3](c, []int32{int32(i)}, 1, 0)
				if err != nil {
					return err
				}
				rs = append(rs, r)
			}
			return Waitall(rs, nil)
		}, func(c *Comm) error {
			var err error
			for i := range 9 {
				err = errors.Join(err, receives(c, 1, AnySource, 0, []int32{int32(i)}, 0, 0))
			}
			return err
		})},
	}
	for n := 2; n <= 8; n++ {
		name := fmt.Sprintf("messages of %d senders keep their order", n-1)
		rules = append(rules, rule{"3.5", name, n, func(c *Comm) error {
			const each = 30
			if c.Rank() > 0 {
				for i := range each {
					if err := Send(c, []int{i}, 0, i%3); err != nil {
						return err
					}
				}
				return nil
			}
			next := make([]int, n)
			for range each * (n - 1) {
				b := []int{0}
				st, err := Recv(c, b, AnySource, AnyTag)
				if err = errors.Join(err, is("number", b[0], next[st.Source]), is("tag", st.Tag, b[0]%3)); err != nil {
					return err
				}
				next[st.Source]++
			}
			return nil
		}})
	}
	return rules
}

// sendrecvRules are those of sends and receives in one call (3.10).
func sendrecvRules() []rule {
	var rules []rule
	for i, n := range []int{0, 1, 40_000} {
		ranks := 1 + 3*i
		rules = append(rules, rule{"3.10", fmt.Sprintf("Sendrecv round a ring, %d elements", n), ranks, func(c *Comm) error {
			buf := make([]int32, n)
			st, err := Sendrecv(c, upTo(int32(c.Rank()), n), right(c), 1, buf, left(c), 1)
			return errors.Join(err, listIs("message", buf, upTo(int32(left(c)), n)), is("source", st.Source, left(c)))
		}}, rule{"3.10", fmt.Sprintf("SendrecvReplace round a ring, %d elements", n), ranks + 1, func(c *Comm) error {
			buf := upTo(int32(c.Rank()), n)
			st, err := SendrecvReplace(c, buf, right(c), 1, left(c), 1)
			return errors.Join(err, listIs("message", buf, upTo(int32(left(c)), n)), is("bytes", st.Bytes(), int64(4*n)))
		}}, rule{"3.10", fmt.Sprintf("Isendrecv round a ring, %d elements", n), 8 - i, func(c *Comm) error {
			buf := make([]int32, n)
			r, err := Isendrecv(c, upTo(int32(c.Rank()), n), right(c), 1, buf, left(c), 1)
			st, bad := r.Wait()
			return errors.Join(err, bad, listIs("message", buf, upTo(int32(left(c)), n)), is("source", st.Source, left(c)))
		}}, rule{"3.10", fmt.Sprintf("IsendrecvReplace round a ring, %d elements", n), 7 - i, func(c *Comm) error {
			buf := upTo(int32(c.Rank()), n)
			err := done(IsendrecvReplace(c, buf, right(c), 1, left(c), 1))
			return errors.Join(err, listIs("message", buf, upTo(int32(left(c)), n)))
		}})
	}
	return append(rules, []rule{
		{"3.10", "Sendrecv at the ends of a line", 4, func(c *Comm) error {
			to, from := c.Rank()+1, c.Rank()-1
			if to == c.Size() {
				to = ProcNull
			}
			if from < 0 {
				from = ProcNull
			}
			buf := []int{-5}
			st, err := Sendrecv(c, []int{c.Rank()}, to, 1, buf, from, 1)
			if from == ProcNull {
				return errors.Join(err, is("status", st, nullStatus), is("buffer", buf[0], -5))
			}
			return errors.Join(err, is("message", buf[0], from))
		}},
		{"3.10", "Sendrecv meets Send and Recv", 2, pairOf(func(c *Comm) error {
			b := []int{0}
			_, err := Sendrecv(c, []int{1}, 1, 4, b, 1, 5)
			return errors.Join(err, is("message", b[0], 2))
		}, func(c *Comm) error {
			b := []int{0}
			err := Send(c, []int{2}, 0, 5)
			_, bad := Recv(c, b, 0, 4)
			return errors.Join(err, bad, is("message", b[0], 1))
		})},
		{"3.10", "Sendrecv of two types", 2, func(c *Comm) error {
			peer := 1 - c.Rank()
			if c.Rank() == 0 {
				b := []byte{0}
				_, err := Sendrecv(c, []float64{1.5}, peer, 1, b, peer, 1)
				return errors.Join(err, is("byte", b[0], 9))
			}
			b := []float64{0}
			_, err := Sendrecv(c, []byte{9}, peer, 1, b, peer, 1)
			return errors.Join(err, is("float64", b[0], 1.5))
		}},
		{"3.10", "Sendrecv in buffers that overlap", 1, func(c *Comm) error {
			b := []int{1, 2, 3}
			_, err := Sendrecv(c, b[:2], 0, 1, b[1:], 0, 1)
			return fails("Sendrecv", err, ErrBuffer)
		}},
		{"3.10", "Sendrecv of a longer message", 2, func(c *Comm) error {
			_, err := Sendrecv(c, []int{1, 2}, 1-c.Rank(), 1, make([]int, 1), 1-c.Rank(), 1)
			return fails("Sendrecv", err, ErrTruncate)
		}},
		{"3.10", "SendrecvReplace takes a shorter message", 2, func(c *Comm) error {
			b := []int{7, 8}
			st, err := SendrecvReplace(c, b[:2-c.Rank()], 1-c.Rank(), 1, 1-c.Rank(), 1)
			if c.Rank() == 0 {
				return errors.Join(err, is("bytes", st.Bytes(), 8), listIs("buffer", b, []int{7, 8}))
			}
			return fails("SendrecvReplace", err, ErrTruncate)
		}},
		{"3.10", "Sendrecv to no rank", 1, func(c *Comm) error {
			_, err := Sendrecv(c, []int{1}, 1, 1, make([]int, 1), 0, 1)
			_, bad := Sendrecv(c, []int{1}, ProcNull, 1, make([]int, 1), 1, 1)
			return errors.Join(fails("dest", err, ErrRank), fails("source", bad, ErrRank))
		}},
	}...)
}
