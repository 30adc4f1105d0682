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
		if _, _, err := RecvValue[tree](c, 0, 2); !errors.Is(err, ErrType) {
			return fmt.Errorf("no gob: %v", err)
		}
		if n, st, err := RecvValue[int](c, ProcNull, 0); n != 0 || st != nullStatus || err != nil {
			return fmt.Errorf("null process: %v %+v %v", n, st, err)
		}
		return nil
	})
}
