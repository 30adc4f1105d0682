package args

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/mpi/pure/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// standard is what the standard says of sides, for each call: at the root and elsewhere, and in an intercommunicator at
// the root, beside it and in the other group. + stands for both sides, s and r for one, - for none; what is behind a
// slash is with MPI_IN_PLACE. Calls without root have one column, for all ranks.
const standard = `
Barrier -
Bcast s r s - r
Gather +/r s r - s
Gatherv +/r s r - s
Scatter +/s r s - r
Scatterv +/s r s - r
Allgather +/r
Allgatherv +/r
Alltoall +/r
Alltoallv +/r
Alltoallw +/r
Reduce +/r s r - s
Allreduce +/r
Reduce_scatter_block +/r
Reduce_scatter +/r
Scan +/r no
Exscan +/r no
Neighbor_allgather + no
Neighbor_allgatherv + no
Neighbor_alltoall + no
Neighbor_alltoallv + no
Neighbor_alltoallw + no
`

var sideNames = map[Side]string{0: "-", Send: "s", Recv: "r", both: "+"}

// TestSides compares with the text above.
func TestSides(t *testing.T) {
	var got strings.Builder
	got.WriteString("\n")
	for c := range calls {
		fmt.Fprint(&got, c)
		list := []Role{Peer}
		if c.Rooted() {
			list = []Role{Root, Peer, Origin, Idle, Far}
		}
		for _, r := range list {
			fmt.Fprint(&got, " ", sideNames[c.Sides(r, false)])
			if s := c.Sides(r, true); s != c.Sides(r, false) && (r == Root || r == Peer && !c.Rooted()) {
				fmt.Fprint(&got, "/", sideNames[s])
			}
		}
		if _, err := c.Role(Comm{Inter: true, Remote: 1, Size: 1}, 0); err != nil {
			got.WriteString(" no")
		}
		got.WriteString("\n")
	}
	if got.String() != standard {
		t.Errorf("got %s", got.String())
	}
}

// TestLists has the sides with counts and displacements for each rank.
func TestLists(t *testing.T) {
	want := map[string]string{
		"Gatherv": "r", "Scatterv": "s", "Allgatherv": "r", "Alltoallv": "+", "Alltoallw": "+",
		"Neighbor_allgatherv": "r", "Neighbor_alltoallv": "+", "Neighbor_alltoallw": "+",
	}
	for c := range calls {
		w := want[c.String()]
		if w == "" {
			w = "-"
		}
		if got := sideNames[rows[c].lists]; got != w || rows[c].types != strings.HasSuffix(c.String(), "w") {
			t.Errorf("%v has lists %s, types %t", c, got, rows[c].types)
		}
		neighbors := strings.HasPrefix(c.String(), "Neighbor")
		if c.neighborly() != neighbors {
			t.Errorf("%v is among neighbours: %t", c, c.neighborly())
		}
	}
	_, err := Reduce.Role(Comm{Rank: 1, Size: 3, Remote: 5, Inter: true}, 7)
	if !strings.Contains(err.Error(), "root 7 of 5") {
		t.Error(err)
	}
}

// TestRole has roots of all kinds.
func TestRole(t *testing.T) {
	intra, inter := Comm{Rank: 1, Size: 3}, Comm{Rank: 1, Size: 3, Remote: 5, Inter: true}
	for _, c := range []struct {
		call  Call
		comm  Comm
		root  int
		role  Role
		class errs.Class
	}{
		{Gather, intra, 1, Root, 0},
		{Gather, intra, 2, Peer, 0},
		{Gather, intra, 3, Peer, errs.Root},
		{Gather, intra, -1, Peer, errs.Root},
		{Gather, intra, RootHere, Peer, errs.Root},
		{Bcast, intra, ProcNull, Peer, errs.Root},
		{Bcast, inter, RootHere, Origin, 0},
		{Bcast, inter, ProcNull, Idle, 0},
		{Reduce, inter, 4, Far, 0},
		{Reduce, inter, 5, Peer, errs.Root},
		{Reduce, inter, -1, Peer, errs.Root},
		{Allreduce, intra, 99, Peer, 0},
		{Allreduce, inter, 99, Far, 0},
		{Barrier, inter, 99, Far, 0},
		{Scan, inter, 0, Peer, errs.Comm},
		{Scan, intra, 99, Peer, 0},
		{NeighborAlltoall, inter, 0, Peer, errs.Comm},
	} {
		if r, err := c.call.Role(c.comm, c.root); r != c.role || errs.Of(err) != c.class {
			t.Errorf("%v on %+v with root %d: role %d, %v", c.call, c.comm, c.root, r, err)
		}
	}
}

// good is a side without defects.
func good(c Call, at uintptr) Buf {
	b := Buf{At: at, Counts: []int64{2}, Types: []Type{{}}}
	if rows[c].lists != 0 {
		b.Counts = []int64{0, 2, 1}
	}
	if rows[c].types {
		b.Types = []Type{{}, {}, {}}
	}
	return b
}

// defect is one thing that is wrong on one side.
type defect struct {
	name  string
	make  func(b *Buf)
	class errs.Class
	when  func(c Call, side Side) bool // nil: always
}

func listed(c Call, side Side) bool { return rows[c].lists&side != 0 }

var defects = []defect{
	{"nil buffer", func(b *Buf) { b.At = 0 }, errs.Buffer, nil},
	{"negative count", func(b *Buf) { b.Counts[len(b.Counts)-1] = -1 }, errs.Count, nil},
	{"no counts", func(b *Buf) { b.Counts = nil }, errs.Arg, func(c Call, _ Side) bool { return !c.neighborly() }},
	{"no displacements", func(b *Buf) { b.NoDispls = true }, errs.Arg, listed},
	{
		"displacements that it does not have", func(b *Buf) { b.NoDispls = true }, errs.Success,
		func(c Call, side Side) bool { return !listed(c, side) },
	},
	{
		"no neighbours", func(b *Buf) { b.Counts, b.Types, b.NoDispls = nil, nil, true }, errs.Success,
		func(c Call, _ Side) bool { return c.neighborly() },
	},
	{"no type", func(b *Buf) { b.Types[len(b.Types)-1].Missing = true }, errs.Type, nil},
	{"uncommitted type", func(b *Buf) { b.Types[0].Uncommitted = true }, errs.Type, nil},
	{"count and buffer", func(b *Buf) { b.Counts[0], b.At = -1, 0 }, errs.Count, nil},
	{"nothing", func(*Buf) {}, errs.Success, nil},
	{"nil buffer without data", func(b *Buf) { clear(b.Counts); b.At = 0 }, errs.Success, nil},
	{"MPI_BOTTOM", func(b *Buf) {
		b.At = 0
		for i := range b.Types {
			b.Types[i].Absolute = true
		}
	}, errs.Success, nil},
	{
		"MPI_BOTTOM and displacements", func(b *Buf) {
			b.At, b.Displs = 0, slices.Repeat([]int64{4096}, len(b.Types))
		}, errs.Success, func(c Call, _ Side) bool { return c == NeighborAlltoallw },
	},
	{
		"MPI_BOTTOM and a displacement that is none", func(b *Buf) {
			b.At, b.Displs = 0, make([]int64, len(b.Types))
		}, errs.Buffer, func(c Call, _ Side) bool { return c == NeighborAlltoallw },
	},
	{
		"no type for no data", func(b *Buf) { b.Types[0].Missing = true }, errs.Success,
		func(c Call, _ Side) bool { return rows[c].types },
	},
}

// rolesOf is the roles that Role gives.
func rolesOf(c Call) []Role {
	if c.Rooted() {
		return []Role{Peer, Root, Origin, Idle, Far}
	}
	return []Role{Peer, Far}
}

// TestDefects has each defect on each side of each call in each role. It must be told exactly if the side matters.
func TestDefects(t *testing.T) {
	for c := range calls {
		for _, r := range rolesOf(c) {
			for _, side := range []Side{Send, Recv} {
				for _, d := range defects {
					if d.when != nil && !d.when(c, side) {
						continue
					}
					send, recv := good(c, 100), good(c, 200)
					d.make(map[Side]*Buf{Send: &send, Recv: &recv}[side])
					want := d.class
					if c.Sides(r, false)&side == 0 {
						want = errs.Success
					}
					if err := Check(c, r, send, recv, Op{}); errs.Of(err) != want {
						t.Errorf("%v, role %d, side %s, %s: %v, want class %d", c, r, sideNames[side], d.name, err, int(want))
					}
				}
			}
		}
	}
}

// TestBoth has what concerns both sides: operations, MPI_IN_PLACE, and one buffer for both.
func TestBoth(t *testing.T) {
	for c := range calls {
		for _, r := range rolesOf(c) {
			sides := c.Sides(r, false)
			check := func(what string, send, recv Buf, op Op, bad bool, class errs.Class) {
				t.Helper()
				want := errs.Success
				if bad {
					want = class
				}
				if err := Check(c, r, send, recv, op); errs.Of(err) != want {
					t.Errorf("%v, role %d: %s: %v, want class %d", c, r, what, err, int(want))
				}
			}
			send, recv := good(c, 100), good(c, 200)
			check("no operation", send, recv, Op{Missing: true}, c.Reduces() && sides != 0, errs.Op)
			check("an operation that is unfit", send, recv, Op{Unfit: true}, c.Reduces() && sides != 0, errs.Op)
			check("one buffer", send, send, Op{}, sides == both, errs.Buffer)
			empty := send
			empty.Counts = make([]int64, len(send.Counts))
			check("one buffer, one empty", send, empty, Op{}, false, 0)
			check("one buffer, one empty", empty, send, Op{}, false, 0)
			bottom := good(c, 0)
			for i := range bottom.Types {
				bottom.Types[i].Absolute = true
			}
			check("MPI_BOTTOM twice", bottom, bottom, Op{}, false, 0)
			here := r == Peer && !c.Rooted() || r == Root && c.Rooted()
			in := Buf{InPlace: true, Counts: []int64{-1}}
			check("send in place", in, recv, Op{}, sides&Send != 0 && !(here && rows[c].inPlace == Send), errs.Buffer)
			check("receive in place", send, in, Op{}, sides&Recv != 0 && !(here && rows[c].inPlace == Recv), errs.Buffer)
		}
	}
}

// TestDocs has the table of the page agree with the rows.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/mpi-arguments.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := document(); !strings.Contains(string(page), want) {
		t.Errorf("docs/mpi-arguments.md has not\n%s", want)
	}
	if got := fmt.Sprint(calls); got != "unknown call" {
		t.Errorf("a call that is none is %s", got)
	}
}

// document is the table as text.
func document() string {
	names := map[Side]string{Send: "send", Recv: "receive", both: "both"}
	var b strings.Builder
	b.WriteString("| Call | root | others | inter: root | inter: beside it | inter: others | in place |\n" +
		"|---|---|---|---|---|---|---|\n")
	cell := func(text string) {
		if text != "" {
			b.WriteString(" " + text)
		}
		b.WriteString(" |")
	}
	for c := range calls {
		fmt.Fprintf(&b, "| %v |", c)
		for _, r := range []Role{Root, Peer, Origin, Idle, Far} {
			text := names[c.Sides(r, false)]
			switch {
			case !c.Rooted() && (r == Root || r == Origin || r == Idle):
				text = ""
			case r >= Origin && rows[c].noInter:
				text = "error"
			}
			cell(text)
		}
		cell(names[rows[c].inPlace])
		b.WriteString("\n")
	}
	return b.String()
}
