package hardware

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/group"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kinds = NewKinds([]string{"Package", "Core"}, []string{"mpi://WORLD", "mpi://SELF"})

func TestNames(t *testing.T) {
	for name, want := range map[string]Kind{
		"mpi_shared_memory": 0, "machine": 0, "hwloc://Package": 1, "package": 1, "SOCKET": 1, "core": 2,
		"HWLOC://core": 2, "": None, "hwloc://": None, "L3Cache": None, "mpi://WORLD": None, "pu": None,
	} {
		if got := kinds.Part(name); got != want {
			t.Errorf("part %q is of kind %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]Kind{"mpi://world": 3, "mpi://SELF": 4, "core": None, "": None} {
		if got := kinds.Set(name); got != want {
			t.Errorf("set %q is of kind %d, want %d", name, got, want)
		}
	}
	for kind, want := range map[Kind]string{
		None: "", Any: "", 0: SharedMemory, 2: "hwloc://Core", 4: "mpi://SELF", 5: "",
	} {
		if got := kinds.Name(kind); got != want {
			t.Errorf("kind %d is %q, want %q", kind, got, want)
		}
	}
	if got := kinds.Parts(); !slices.Equal(got, []string{SharedMemory, "hwloc://Package", "hwloc://Core"}) {
		t.Errorf("the parts are %q", got)
	}
}

const no = group.Undefined

// TestSplit (7.4.2): ranks 0 to 3 are on machine 7 with two packages, ranks 4 and 5 on machine 8. Rank 3 is bound to no
// core.
func TestSplit(t *testing.T) {
	where := [][]int{{0, 0}, {0, 1}, {1, 2}, {1, -1}, {0, 0}, {0, 0}}
	for _, x := range []struct {
		name  string
		ranks int
		want  []Kind
		color []int
		kind  Kind
	}{
		{"machines", 6, []Kind{0, 0, 0, 0, 0, 0}, []int{0, 0, 0, 0, 4, 4}, 0},
		{"one rank wants nothing", 6, []Kind{None, 0, 0, 0, 0, 0}, []int{no, 1, 1, 1, 4, 4}, 0},
		{"packages of two machines", 6, []Kind{1, 1, 1, 1, 1, 1}, []int{0, 0, 2, 2, 4, 4}, 1},
		{"cores", 6, []Kind{2, 2, 2, 2, 2, 2}, []int{0, 1, 2, no, 4, 4}, 2},
		{"the world", 6, []Kind{3, 3, 3, 3, 3, 3}, []int{0, 0, 0, 0, 0, 0}, 3},
		{"ranks", 6, []Kind{4, 4, 4, 4, 4, 4}, []int{0, 1, 2, 3, 4, 5}, 4},
		{"different kinds", 6, []Kind{0, 0, 1, 0, 0, 0}, []int{no, no, no, no, no, no}, None},
		{"any and a kind", 2, []Kind{Any, 1}, []int{no, no}, None},
		{"nothing", 2, []Kind{None, None}, []int{no, no}, None},
		{"any, of two machines", 6, []Kind{Any, Any, Any, Any, Any, Any}, []int{0, 0, 0, 0, 4, 4}, 0},
		{"any, of one machine", 4, []Kind{Any, Any, Any, Any}, []int{0, 0, 2, 2}, 1},
		{"any, of one package", 2, []Kind{Any, Any}, []int{0, 1}, 2},
		{"any, alone", 1, []Kind{Any}, []int{no}, None},
		{"any, but one rank", 2, []Kind{Any, None}, []int{0, no}, 0},
	} {
		var all []uint64
		for r := range x.ranks {
			all = append(all, kinds.Words(x.want[r], uint64(7+r/4), append(slices.Clone(where[r]), 0, r))...)
		}
		for r := range x.ranks {
			color, kind := kinds.Split(all, r)
			want := x.kind
			if x.color[r] == no {
				want = None
			}
			if color != x.color[r] || kind != want {
				t.Errorf("%s: rank %d has color %d of kind %d, want %d of %d", x.name, r, color, kind, x.color[r], want)
			}
		}
	}
}
