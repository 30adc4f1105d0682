package reqkind

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model judges by the history of allowed calls: how often the operation was started, has ended, and was seen to be.
type model struct {
	kind  Kind
	count [calls]int
	null  bool // after the completing call that makes the handle null
}

func (m *model) lasts() bool {
	return slices.Contains([]Kind{Persistent, PersistentColl, PartitionedOut, PartitionedIn}, m.kind)
}

func (m *model) started() int {
	if m.lasts() {
		return m.count[Start]
	}
	return 1
}

func (m *model) ended() int { return m.count[Ended] + m.count[EndGen] }

func (m *model) allowed(c Call) bool {
	freed := m.count[Free] > 0
	running := m.ended() < m.started()
	usable := !freed && !m.null
	inUse := usable && (running || m.unseen())
	handIn := m.kind == PersistentColl || m.kind == PartitionedIn || m.kind == PartitionedOut
	switch c {
	case Start:
		return m.lasts() && usable && !inUse
	case Complete:
		return !running
	case Free:
		return usable && m.kind != Collective && !(handIn && inUse)
	case Cancel:
		return inUse && (m.kind == PointToPoint || m.kind == Persistent || m.kind == Generalized)
	case Pready:
		return m.kind == PartitionedOut && usable && running
	case Parrived:
		return m.kind == PartitionedIn
	case EndGen:
		return m.kind == Generalized && running
	default:
		return m.kind != Generalized && running
	}
}

func (m *model) unseen() bool { return m.ended() > m.count[Complete] }

// TestAgainstHistory makes random calls with requests of each kind. The model counts a completing call only where
// there is something to complete.
func TestAgainstHistory(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for k := range kinds {
		allowed := make([]int, calls)
		for range 800 {
			s, m := k.firstState(), &model{kind: k}
			for range 25 {
				c := Call(r.IntN(int(calls)))
				next, err := Next(k, s, c)
				if want := m.allowed(c); (err == nil) != want || err != nil && (errs.Of(err) != errs.Request || next != s) {
					t.Fatalf("%v of a %v request in state %v after %v: %v, %v; want it allowed: %t",
						c, k, s, m.count, next, err, want)
				}
				if err != nil {
					continue
				}
				allowed[c]++
				if unseen := m.unseen(); c != Complete || unseen && m.count[Free] == 0 {
					m.count[c]++
					m.null = m.null || c == Complete && !m.lasts()
				}
				s = next
			}
		}
		for c, n := range allowed {
			if (n > 0) != (rows[k].may[c] != 0) {
				t.Errorf("%v of %v requests was allowed %d times", Call(c), k, n)
			}
		}
	}
	for _, wrong := range [][3]uint8{{uint8(kinds), 0, 0}, {0, uint8(states), 0}, {0, 0, uint8(calls)}} {
		if _, err := Next(Kind(wrong[0]), State(wrong[1]), Call(wrong[2])); errs.Of(err) != errs.Intern {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// TestStates has the states that the calls lead to.
func TestStates(t *testing.T) {
	for line, want := range map[Kind][]string{
		PointToPoint:   {"active ended done complete null", "active free detached ended null", "active ended done free null"},
		Collective:     {"active ended done complete null complete null"},
		Persistent:     {"inactive start active ended done complete inactive start active free detached ended null"},
		PersistentColl: {"inactive complete inactive start active ended done complete inactive free null"},
		PartitionedOut: {"inactive start active pready active ended done complete inactive"},
		PartitionedIn:  {"inactive parrived inactive start active parrived active ended done parrived done"},
		Generalized:    {"active cancel active end done complete null", "active free detached end null"},
		OneSided:       {"active ended done complete null"},
	} {
		for _, text := range want {
			words := strings.Fields(text)
			s := line.firstState()
			for i := 0; i < len(words); i += 2 {
				if s.String() != words[i] {
					t.Errorf("%v: %s: at %d the state is %v", line, text, i, s)
				}
				if i+1 < len(words) {
					s = step(t, line, s, words[i+1])
				}
			}
		}
	}
}

func step(t *testing.T, k Kind, s State, name string) State {
	t.Helper()
	for c := range calls {
		if c.String() == name {
			next, err := Next(k, s, c)
			if err != nil {
				t.Error(err)
			}
			return next
		}
	}
	t.Fatalf("no call %s", name)
	return s
}

// TestSeveral has all succeed, one fail, and others not done.
func TestSeveral(t *testing.T) {
	ok, bad, pending := Outcome{Done: true}, Outcome{true, errs.Truncate}, Outcome{}
	for _, c := range []struct {
		outcomes []Outcome
		want     []errs.Class
	}{
		{nil, nil},
		{[]Outcome{ok, ok}, nil},
		{[]Outcome{ok, pending}, nil},
		{[]Outcome{ok, bad, pending, bad}, []errs.Class{errs.Success, errs.Truncate, errs.Pending, errs.Truncate}},
		{[]Outcome{{false, errs.ProcAborted}}, []errs.Class{errs.ProcAborted}},
	} {
		statuses, err := severalKinds(c.outcomes)
		var got []errs.Class
		for _, s := range statuses {
			got = append(got, errs.Of(s))
		}
		if !slices.Equal(got, c.want) || (err != nil) != (c.want != nil) || err != nil && errs.Of(err) != errs.InStatus {
			t.Errorf("%v: statuses %v, %v", c.outcomes, got, err)
		}
	}
	_, err := severalKinds([]Outcome{ok, bad, {true, errors.New("second")}})
	want := "2 of 3 requests have failed, the first one is 1: " + errs.Truncate.Error()
	if !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// TestDocs has the table of the page agree with the rows.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/design/mpi-requests.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := document(); !strings.Contains(string(page), want) {
		t.Errorf("docs/design/mpi-requests.md has not\n%s", want)
	}
}

// document is the table as text.
func document() string {
	var b strings.Builder
	b.WriteString("| Kind |")
	for c := range Ended {
		fmt.Fprintf(&b, " %v |", c)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", int(Ended)) + "\n")
	for k := range kinds {
		fmt.Fprintf(&b, "| %v |", k)
		for c := range Ended {
			var names []string
			for s := range states {
				if rows[k].may[c].hasState(s) {
					names = append(names, s.String())
				}
			}
			if cell := strings.Join(names, ", "); cell != "" {
				b.WriteString(" " + cell)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
