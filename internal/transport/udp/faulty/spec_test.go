package faulty

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

func TestParse(t *testing.T) {
	f, err := Parse("loss=0.1,dup=0.05,reorder=0.1,seed=7,cut=2s,heal=3s,to=1+3,from=0")
	want := Faults{
		Faults: badnet.Faults{Seed: 7, Loss: 0.1, Dup: 0.05, Reorder: 0.1, CutAfter: 2 * time.Second, HealAfter: 3 * time.Second},
		From:   []int{0}, To: []int{1, 3},
	}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := Parse(""); err != nil || !reflect.DeepEqual(f, Faults{}) {
		t.Errorf("nothing: %+v, %v", f, err)
	}
	if f, err := Parse("loss=0.5"); err != nil || f.Seed != 1 {
		t.Errorf("no seed: %+v, %v", f, err)
	}
	for _, bad := range []string{"loss=2", "loss=0.9,burst=2", "to=", "to=1-3", "from=x", "to=-1", "speed=1", "loss", "delay=-1s"} {
		if f, err := Parse(bad); !errors.Is(err, badnet.ErrFaults) || !reflect.DeepEqual(f, Faults{}) {
			t.Errorf("%q: %+v, %v", bad, f, err)
		}
	}
}

// TestWhoSuffers: only ranks that are named, and nobody gets a wrapper for nothing.
func TestWhoSuffers(t *testing.T) {
	for _, c := range []struct {
		spec   string
		rank   int
		none   bool
		victim bool // rank 1, of what goes to it
	}{
		{"", 0, true, false},
		{"seed=3,burst=5,heal=1s,queue=9", 0, true, false},
		{"loss=1", 0, false, true},
		{"loss=1,to=1", 0, false, true},
		{"loss=1,to=0+2", 0, false, false},
		{"loss=1,from=1", 0, true, false},
		{"loss=1,from=1", 1, false, true},
	} {
		f, err := Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		f.Rank = c.rank
		under := &fake{room: 100, largest: 100}
		w, err := New(under, f)
		if err != nil || (w == under) != c.none || f.isNone() != c.none {
			t.Errorf("%q at rank %d: %T, %v", c.spec, c.rank, w, err)
			continue
		}
		mustSend(t, w, append(numbered(0, 1, to(1)), numbered(1, 1, to(2))...)) // destinations 0 and 1
		came := false
		for _, a := range under.came {
			came = came || a.to == to(2)
		}
		if came == c.victim {
			t.Errorf("%q at rank %d: came is %v", c.spec, c.rank, came)
		}
	}
	if _, err := New(&fake{}, Faults{Faults: badnet.Faults{Loss: 3}}); !errors.Is(err, badnet.ErrFaults) {
		t.Error(err)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		spec string
		size int
		says string // "": the job has all
	}{
		{"", 1, ""},
		{"loss=1", 1, ""},
		{"loss=1,to=0+3,from=2", 4, ""},
		{"loss=1,to=0+3,from=2", 3, "to=3, and the job has ranks 0 to 2"},
		{"loss=1,to=0+3,from=2", 2, "from=2, and the job has ranks 0 to 1"},
		{"to=1", 1, "to=1"},
	} {
		f, err := Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Within(c.size)
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, badnet.ErrFaults) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%q in a job of %d: %v", c.spec, c.size, err)
		}
	}
}
