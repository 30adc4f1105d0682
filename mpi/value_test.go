package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

type tree struct {
	Name string
	Kids []*tree
	Size map[string]int
}

func TestValues(t *testing.T) {
	v := tree{"root", []*tree{{Name: strings.Repeat("long", 5000)}, {Name: "b"}}, map[string]int{"a": 1}}
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			return errors.Join(SendValue(c, v, 1, 0), SendValue(c, "text", 1, 1), Send(c, []byte("no gob"), 1, 2),
				SendValue(c, 1, ProcNull, 0))
		}
		got, st, err := RecvValue[tree](c, AnySource, 0)
		if err != nil || st.Source != 0 || !reflect.DeepEqual(got, v) {
			return fmt.Errorf("%+v %v", st, err)
		}
		s, _, err := RecvValue[string](c, 0, 1)
		if s != "text" || err != nil {
			return fmt.Errorf("%q %v", s, err)
		}
		if _, _, err := RecvValue[tree](c, 0, 2); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "was not sent as a value") {
			return fmt.Errorf("no gob: %v", err)
		}
		if n, st, err := RecvValue[int](c, ProcNull, 0); n != 0 || st != nullStatus || err != nil {
			return fmt.Errorf("null process: %v %+v %v", n, st, err)
		}
		return nil
	})
}

// TestValueForms sends values in all ways, and receives them in all.
func TestValueForms(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			v := map[string]int{"a": 1}
			r, err := IsendValue(c, v, 1, 0)
			if err != nil {
				return err
			}
			v["a"] = 2 // it has been encoded
			_, err = r.Wait()
			return errors.Join(err, SsendValue(c, "b", 1, 1), second(IsendValue(c, 1, ProcNull, 0)), SsendValue(c, 1, ProcNull, 0))
		}
		m, _, err := RecvValue[map[string]int](c, 0, 0)
		if err != nil || m["a"] != 1 {
			return fmt.Errorf("%v %v", m, err)
		}
		for {
			s, st, ok, err := IprobeValue[string](c, AnySource, AnyTag)
			if err != nil || ok && (s != "b" || st.Source != 0 || st.Tag != 1) {
				return fmt.Errorf("%q %+v %v", s, st, err)
			}
			if ok {
				break
			}
		}
		if _, st, ok, err := IprobeValue[string](c, ProcNull, 0); !ok || err != nil || st != nullStatus {
			return fmt.Errorf("null process: %+v %v %v", st, ok, err)
		}
		return nil
	})
}

// rot13 is a codec for strings only.
type rot13 struct{}

func (rot13) Marshal(v any) ([]byte, error) {
	s, ok := v.(*string)
	if !ok {
		return nil, fmt.Errorf("%T is no string", v)
	}
	if *s == "panic" {
		panic("as asked")
	}
	return turn([]byte(*s)), nil
}

func (rot13) Unmarshal(b []byte, v any) error {
	*v.(*string) = string(turn(b))
	return nil
}

func turn(b []byte) []byte {
	for i, x := range b {
		b[i] = 'a' + (x-'a'+13)%26
	}
	return b
}

func TestCodec(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		d := c.WithCodec(rot13{})
		if c.Rank() == 0 {
			return errors.Join(SendValue(d, "hello", 1, 0), SendValue(d, "hello", 1, 1),
				wants(ErrType, SendValue(d, 1, 1, 0)), wants(ErrType, SendValue(d, "panic", 1, 0)))
		}
		raw := make([]byte, 5)
		if _, err := Recv(c, raw, 0, 0); err != nil || string(raw) != "uryyb" {
			return fmt.Errorf("%q %v", raw, err)
		}
		s, _, err := RecvValue[string](d, 0, 1)
		if s != "hello" || err != nil {
			return fmt.Errorf("%q %v", s, err)
		}
		return nil
	})
}

// TestValueCollectives runs each with a different root and values of different lengths, and once where one rank's value
// cannot be encoded: then all that want it get an error, and the next call works.
func TestValueCollectives(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		must(t, n, func(c *Comm) error {
			text := func(r int) string { return strings.Repeat(fmt.Sprint(r), 1+3000*(r%3)) }
			all := make([]string, n)
			for r := range all {
				all[r] = text(r)
			}
			for root := range n {
				own := text(c.Rank())
				if s, err := BcastValue(c, own, root); err != nil || s != text(root) {
					return fmt.Errorf("BcastValue: %d bytes, %v", len(s), err)
				}
				vs, err := GatherValue(c, own, root)
				if err != nil || c.Rank() == root && !reflect.DeepEqual(vs, all) || c.Rank() != root && vs != nil {
					return fmt.Errorf("GatherValue: %d values, %v", len(vs), err)
				}
				var list []string
				if c.Rank() == root {
					list = all
				}
				if s, err := ScatterValue(c, list, root); err != nil || s != own {
					return fmt.Errorf("ScatterValue: %d bytes, %v", len(s), err)
				}
				if vs, err := AllgatherValue(c, own); err != nil || !reflect.DeepEqual(vs, all) {
					return fmt.Errorf("AllgatherValue: %d values, %v", len(vs), err)
				}
				var bad any = "good"
				if c.Rank() == root {
					bad = func() {}
				}
				_, e1 := BcastValue(c, bad, root)
				_, e2 := AllgatherValue(c, bad)
				_, e3 := ScatterValue[string](c, nil, root)
				if err := errors.Join(wants(ErrType, e1), wants(ErrType, e2)); err != nil {
					return err
				}
				if e3 == nil {
					return errors.New("ScatterValue without values is no error")
				}
			}
			return nil
		})
	}
}

func TestScalars(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		r := c.Rank()
		sum, e1 := AllreduceOne(c, r+1, Sum)
		most, e2 := ReduceOne(c, float64(r), Max, 1)
		x, e3 := BcastOne(c, r*10, 2)
		list, e4 := GatherOne(c, r, 0)
		every, e5 := AllgatherOne(c, r)
		flat, counts, e6 := AllgathervAlloc(c, make([]int, r))
		if err := errors.Join(e1, e2, e3, e4, e5, e6); err != nil {
			return err
		}
		want := float64(0)
		if r == 1 {
			want = 2
		}
		if sum != 6 || most != want || x != 20 || (r == 0) != (len(list) == 3) || !reflect.DeepEqual(every, []int{0, 1, 2}) ||
			len(flat) != 3 || !reflect.DeepEqual(counts, []int{0, 1, 2}) {
			return fmt.Errorf("%v %v %v %v %v %v %v", sum, most, x, list, every, flat, counts)
		}
		return nil
	})
	for _, err := range []error{
		second(AllreduceOne(nil, 1, Sum)), second(ReduceOne(nil, 1, Sum, 0)), second(BcastOne(nil, 1, 0)),
		second(GatherOne(nil, 1, 0)), second(AllgatherOne(nil, 1)), second(BcastValue(nil, 1, 0)), second(GatherValue(nil, 1, 0)),
		second(AlltoallValue(nil, []int{})), second(ReduceValue(nil, "", joined, 0)), second(AllreduceValue(nil, "", joined)),
		second(ScanValue(nil, "", joined)), second(ExscanValue(nil, "", joined)),
		second(AllgatherValue(nil, 1)), second(ScatterValue(nil, []int{1}, 0)), SendValue(nil, 1, 0, 0),
	} {
		if !errors.Is(err, ErrComm) {
			t.Errorf("nil communicator: %v", err)
		}
	}
}
