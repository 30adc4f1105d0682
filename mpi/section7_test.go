package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// errRefused is what functions of keys fail with here.
var errRefused = errors.New("refused")

// attributeRules are those of keys and values (7.7).
func attributeRules() []rule {
	twice := func(_ *Comm, v int) (int, bool, error) { return 2 * v, true, nil }
	return []rule{
		{"7.7.2", "a value that is set", 2, func(c *Comm) error {
			k := NewKey[int](nil, nil)
			err := k.Set(c, 7)
			v, ok, bad := k.Get(c)
			return errors.Join(err, bad, is("value", v, 7), is("there", ok, true))
		}},
		{"7.7.2", "no value", 1, func(c *Comm) error {
			_, ok, err := NewKey[int](nil, nil).Get(c)
			return errors.Join(err, is("there", ok, false))
		}},
		{"7.7.2", "a view has the values of its communicator", 1, func(c *Comm) error {
			k := NewKey[string](nil, nil)
			err := k.Set(c.WithContext(context.Background()), "x")
			v, _, bad := k.Get(c)
			return errors.Join(err, bad, is("value", v, "x"))
		}},
		{"7.7.2", "a value that is deleted", 1, func(c *Comm) error {
			gone := 0
			k := NewKey(nil, func(_ *Comm, v int) error { gone += v; return nil })
			err := errors.Join(k.Set(c, 1), k.Set(c, 10), is("dropped", gone, 1), k.Delete(c), k.Delete(c))
			_, ok, bad := k.Get(c)
			return errors.Join(err, bad, is("dropped", gone, 11), is("there", ok, false))
		}},
		{"7.7.2", "a drop function that refuses", 1, func(c *Comm) error {
			refuse := true
			k := NewKey(nil, func(*Comm, int) error {
				if refuse {
					return errRefused
				}
				return nil
			})
			err := errors.Join(k.Set(c, 1), fails("Set", k.Set(c, 2), errRefused), fails("Delete", k.Delete(c), errRefused))
			v, _, bad := k.Get(c)
			refuse = false
			return errors.Join(err, bad, is("value", v, 1))
		}},
		{"7.7.2", "a key that was freed", 1, func(c *Comm) error {
			k := NewKey[int](nil, nil)
			err := errors.Join(k.Set(c, 1), k.Free(), fails("Set", k.Set(c, 2), ErrKeyval))
			v, _, bad := k.Get(c)
			return errors.Join(err, bad, is("value", v, 1), k.Delete(c), fails("Free", k.Free(), ErrKeyval))
		}},
		{"7.7.2", "a nil key", 1, func(c *Comm) error {
			var k *Key[int]
			return errors.Join(fails("Set", k.Set(c, 1), ErrKeyval), fails("Free", k.Free(), ErrKeyval))
		}},
		{"7.7.2", "a freed communicator", 2, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			return errors.Join(d.Free(), fails("Set", NewKey[int](nil, nil).Set(d, 1), ErrComm))
		}},
		{"7.7.2", "Dup copies", 2, func(c *Comm) error {
			k, same, none := NewKey(twice, nil), NewKey(Keep[int], nil), NewKey[int](nil, nil)
			err := errors.Join(k.Set(c, 4), same.Set(c, 4), none.Set(c, 4))
			d, bad := c.Dup()
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			a, _, _ := k.Get(d)
			b, _, _ := same.Get(d)
			_, ok, _ := none.Get(d)
			return errors.Join(is("twice", a, 8), is("same", b, 4), is("none", ok, false), d.Free())
		}},
		{"7.7.2", "DupWith and Idup copy", 2, func(c *Comm) error {
			k := NewKey(twice, nil)
			err := k.Set(c, 3)
			d, e1 := c.DupWith(Assert{})
			e, r, e2 := c.Idup()
			if err = errors.Join(err, e1, e2); err != nil {
				return err
			}
			_, err = r.Wait()
			a, _, _ := k.Get(d)
			b, _, _ := k.Get(e)
			return errors.Join(err, is("DupWith", a, 6), is("Idup", b, 6), e.Barrier())
		}},
		{"7.7.2", "Split copies nothing", 2, func(c *Comm) error {
			k := NewKey(twice, nil)
			err := k.Set(c, 3)
			d, bad := c.Split(0, 0)
			_, ok, _ := k.Get(d)
			return errors.Join(err, bad, is("there", ok, false))
		}},
		{"7.7.2", "a copy function that refuses", 2, func(c *Comm) error {
			k := NewKey(func(*Comm, int) (int, bool, error) { return 0, false, errRefused }, nil)
			err := k.Set(c, 3)
			_, bad := c.Dup()
			return errors.Join(err, fails("Dup", bad, errRefused), k.Delete(c), c.Barrier())
		}},
		{"7.7.2", "Free deletes, the last one first", 1, func(c *Comm) error {
			var order []int
			note := func(_ *Comm, v int) error { order = append(order, v); return nil }
			d, err := c.Dup()
			for i := range 3 {
				err = errors.Join(err, NewKey(nil, note).Set(d, i))
			}
			return errors.Join(err, d.Free(), listIs("order", order, []int{2, 1, 0}))
		}},
		{"7.7.2", "a drop function that keeps the communicator", 1, func(c *Comm) error {
			refuse := true
			k := NewKey(nil, func(*Comm, int) error {
				if refuse {
					return errRefused
				}
				return nil
			})
			d, err := c.Dup()
			if err != nil {
				return err
			}
			err = errors.Join(k.Set(d, 1), fails("Free", d.Free(), errRefused), d.Barrier())
			refuse = false
			return errors.Join(err, d.Free())
		}},
	}
}

// TestAttributesOfSelf (11.2.4): the end of a rank deletes the attributes of its own communicator, while it still
// communicates.
func TestAttributesOfSelf(t *testing.T) {
	said := make([]error, 2)
	must(t, 2, func(c *Comm) error {
		k := NewKey(nil, func(*Comm, *Comm) error {
			said[c.Rank()] = c.Barrier()
			if said[c.Rank()] == nil {
				said[c.Rank()] = errRefused
			}
			return nil
		})
		return k.Set(c.Proc().Self(), c)
	})
	for r, err := range said {
		if !errors.Is(err, errRefused) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// makingRules are those of what makes communicators (7.4, 11.3).
func makingRules() []rule {
	works := func(c *Comm) error {
		n, err := AllreduceOne(c, c.Rank(), Sum)
		return errors.Join(err, is("sum of ranks", n, c.Size()*(c.Size()-1)/2))
	}
	var rules []rule
	for _, n := range []int{1, 2, 5, 8} {
		rules = append(rules,
			rule{"7.4.2", fmt.Sprintf("Idup, %d ranks", n), n, func(c *Comm) error {
				var ds [3]*Comm
				var rs [3]Request
				for i := range ds {
					var err error
					if ds[i], rs[i], err = c.Idup(); err != nil {
						return err
					}
				}
				err := Waitall(rs[:], nil)
				for _, d := range ds {
					err = errors.Join(err, works(d), d.Free())
				}
				return err
			}},
			rule{"7.4.2", fmt.Sprintf("ranks of one machine, %d ranks", n), n, func(c *Comm) error {
				d, err := c.SplitShared(-c.Rank())
				if err != nil {
					return err
				}
				return errors.Join(works(d), is("rank", d.Rank(), c.Size()-1-c.Rank()), d.Free())
			}},
			rule{"7.4.2", fmt.Sprintf("ranks by hardware, %d ranks", n), n, func(c *Comm) error {
				d, err := c.SplitHardware("machine", -c.Rank())
				e, errUnknown := c.SplitHardware("unknown", 0)
				f, kind, errLevel := c.SplitLevel(0)
				err = errors.Join(err, errUnknown, errLevel)
				if err != nil {
					return err
				}
				if e != nil || (f == nil) != (kind == "") || f != nil && f.Size() >= c.Size() {
					return fmt.Errorf("unknown: %v; level %q: %v", e, kind, f)
				}
				if f != nil {
					err = errors.Join(works(f), f.Free())
				}
				return errors.Join(err, works(d), is("rank", d.Rank(), c.Size()-1-c.Rank()), d.Free())
			}},
			rule{"7.4.2", fmt.Sprintf("a group without a parent, %d ranks", n), n, func(c *Comm) error {
				g, err := c.Group()
				if err != nil {
					return err
				}
				d, err := c.Proc().CreateFromGroup(g, "a")
				if err != nil {
					return err
				}
				return errors.Join(works(d), d.Free())
			}},
			rule{"11.3.2", fmt.Sprintf("the world of a session, %d ranks", n), n, func(c *Comm) error {
				s, err := c.Proc().OpenSession()
				if err != nil {
					return err
				}
				g, err := s.Group("MPI://world")
				if err != nil {
					return err
				}
				d, err := s.CreateComm(g, "session")
				if err != nil {
					return err
				}
				return errors.Join(is("size", g.Size(), n), works(d), d.Free(), s.Close())
			}})
	}
	rules = append(rules,
		rule{"7.4.2", "a group without the rank", 2, func(c *Comm) error {
			g, err := c.Group()
			if err != nil {
				return err
			}
			other, err := g.Incl(1 - c.Rank())
			_, bad := c.Proc().CreateFromGroup(other, "a")
			return errors.Join(err, fails("CreateFromGroup", bad, ErrGroup), is("class", Class(bad), ClassGroup))
		}},
		rule{"11.3.2", "process sets", 3, func(c *Comm) error {
			s, err := c.Proc().OpenSession()
			if err != nil {
				return err
			}
			for _, name := range s.ProcessSets() {
				g, bad := s.Group(name)
				_, ok := map[int]string{1: SelfSet, 3: WorldSet}[g.Size()]
				err = errors.Join(err, bad, is(name, ok, true))
			}
			_, bad := s.Group("mpi://none")
			return errors.Join(err, fails("Group", bad, ErrArgument))
		}},
		rule{"11.3.1", "a session that was closed", 1, func(c *Comm) error {
			s, err := c.Proc().OpenSession()
			if err != nil {
				return err
			}
			err = s.Close()
			_, e1 := s.Group(WorldSet)
			_, e2 := s.CreateComm(Group{}, "")
			return errors.Join(err, fails("Group", e1, ErrSession), fails("CreateComm", e2, ErrSession),
				fails("Close", s.Close(), ErrSession))
		}},
		rule{"9.4", "classes", 1, func(*Comm) error {
			var all error
			for err, class := range map[error]ErrorClass{
				ErrGroup: ClassGroup, ErrTopology: ClassTopology, ErrDims: ClassDims, ErrKeyval: ClassKeyval,
				ErrSession: ClassSession, errRefused: ClassUnknown, nil: ClassSuccess, ErrArgument: ClassArg,
			} {
				if err != nil {
					err = fmt.Errorf("wrapped: %w", err)
				}
				all = errors.Join(all, is(fmt.Sprint(err), Class(err), class))
			}
			return all
		}})
	return rules
}
