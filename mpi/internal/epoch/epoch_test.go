package epoch

import (
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

// event is a call that was allowed.
type event struct {
	c Call
	a Args
}

// model judges a call by the history of allowed ones alone.
type model struct {
	self    int
	history []event
}

// since is the events behind the last one that matches, and whether there is one.
func (m *model) since(match func(event) bool) (events []event, found bool) {
	for i, e := range slices.Backward(m.history) {
		if match(e) {
			return m.history[i+1:], true
		}
	}
	return m.history, false
}

func is(calls ...Call) func(event) bool {
	return func(e event) bool { return slices.Contains(calls, e.c) }
}

// opened tells whether an epoch that some call opens is open: a closing call has not come since.
func (m *model) opened(by, end Call) bool {
	events, found := m.since(is(by))
	return found && !slices.ContainsFunc(events, is(end))
}

func (m *model) holds(target int) bool {
	at := func(c Call) func(event) bool {
		return func(e event) bool { return e.c == c && e.a.Target == target }
	}
	events, found := m.since(at(Lock))
	return found && !slices.ContainsFunc(events, at(Unlock))
}

func (m *model) holdsAny() bool {
	return m.holds(0) || m.holds(1) || m.holds(2) || m.holds(ProcNull)
}

// fenced: the last fence promised to be followed by another one, and no call since has opened another epoch.
func (m *model) fenced() (may, accessed bool) {
	events, found := m.since(is(Fence))
	if !found || m.history[len(m.history)-len(events)-1].a.Assert&NoSucceed != 0 ||
		slices.ContainsFunc(events, is(Start, Lock, LockAll, Post, Free)) {
		return false, false
	}
	return true, slices.ContainsFunc(events, func(e event) bool { return e.c == Access && e.a.Target != ProcNull })
}

func (m *model) allowed(c Call, a Args) bool {
	started, all, posted := m.opened(Start, Complete), m.opened(LockAll, UnlockAll), m.opened(Post, Wait)
	fence, accessed := m.fenced()
	passive := all || m.holdsAny()
	busy := started || passive || accessed
	switch c {
	case Fence:
		return !started && !passive && !posted
	case Free:
		return !busy && !posted
	case LockAll:
		return !busy && !posted
	case Start:
		return !busy
	case Lock:
		return !started && !all && !accessed && !m.holds(a.Target) && !(posted && a.Target == m.self)
	case Post:
		return !posted && !accessed && !all && !m.holds(m.self)
	case Complete:
		return started
	case Wait:
		return posted
	case Unlock:
		return m.holds(a.Target)
	case UnlockAll:
		return all
	case FlushAll, Sync:
		return passive
	case Flush:
		return all || m.holds(a.Target) || passive && a.Target == ProcNull
	case AccessReq:
		return all || m.holds(a.Target) || a.Target == ProcNull
	default:
		return a.Target == ProcNull || fence || all || m.holds(a.Target) || started && m.inGroup(a.Target)
	}
}

func (m *model) inGroup(target int) bool {
	events, _ := m.since(is(Start))
	return slices.Contains(m.history[len(m.history)-len(events)-1].a.Group, target)
}

// TestAgainstHistory makes random calls and compares with the model.
func TestAgainstHistory(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	allowed, refused := make([]int, calls), make([]int, calls)
	for range 3000 {
		w, m := New(1, 3), &model{self: 1}
		for range 40 {
			c := Call(r.IntN(int(calls)))
			a := Args{Target: []int{0, 1, 2, ProcNull}[r.IntN(4)], Lock: Shared, Group: r.Perm(3)[:r.IntN(4)]}
			if c == Fence && r.IntN(3) == 0 {
				a.Assert = NoSucceed
			}
			want := m.allowed(c, a)
			before, posted := w.currentState()
			check := w.Check(c, a)
			if s, p := w.currentState(); s != before || p != posted {
				t.Fatalf("to check %v leads from %v to %v", c, before, s)
			}
			err := w.Do(c, a)
			if (err == nil) != want || fmt.Sprint(err) != fmt.Sprint(check) || err != nil && errs.Of(err) != errs.RMASync {
				t.Fatalf("%v of %d after %v: %v, want it allowed: %t", c, a.Target, m.history, err, want)
			}
			if !want {
				refused[c]++
				continue
			}
			allowed[c]++
			m.history = append(m.history, event{c, a})
			compare(t, w, m)
		}
	}
	for c := range calls {
		if allowed[c] == 0 || refused[c] == 0 {
			t.Errorf("%v was allowed %d times and refused %d times", c, allowed[c], refused[c])
		}
	}
}

func compare(t *testing.T, w *Window, m *model) {
	t.Helper()
	var want []int
	for _, target := range []int{ProcNull, 0, 1, 2} {
		if m.holds(target) || m.opened(Start, Complete) && m.inGroup(target) {
			want = append(want, target)
		}
	}
	got := w.Targets()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("after %v targets are %v, want %v", m.history, got, want)
	}
	var exposed []int
	if m.opened(Post, Wait) {
		events, _ := m.since(is(Post))
		exposed = m.history[len(m.history)-len(events)-1].a.Group
	}
	if !slices.Equal(w.Exposed(), exposed) {
		t.Fatalf("after %v the window is exposed to %v, want %v", m.history, w.Exposed(), exposed)
	}
}

// TestArgs has wrong arguments, which are told before the epoch is looked at.
func TestArgs(t *testing.T) {
	for _, c := range []struct {
		c    Call
		a    Args
		want errs.Class
	}{
		{Access, Args{Target: -5}, errs.Rank},
		{Access, Args{Target: 3}, errs.Rank},
		{AccessReq, Args{Target: -1}, errs.Rank},
		{Lock, Args{Target: 3, Lock: Shared}, errs.Rank},
		{Unlock, Args{Target: 3}, errs.Rank},
		{Flush, Args{Target: -1}, errs.Rank},
		{Lock, Args{Lock: 303}, errs.LockType},
		{Lock, Args{Lock: 0}, errs.LockType},
		{Lock, Args{Lock: Exclusive, Assert: NoCheck}, errs.Success},
		{Lock, Args{Lock: Exclusive, Assert: NoStore}, errs.Assert},
		{LockAll, Args{Assert: NoCheck}, errs.Success},
		{LockAll, Args{Assert: 1}, errs.Assert},
		{Fence, Args{Assert: NoStore | NoPut | NoPrecede | NoSucceed}, errs.Success},
		{Fence, Args{Assert: NoCheck}, errs.Assert},
		{Start, Args{Assert: NoCheck}, errs.Success},
		{Start, Args{Assert: NoPut}, errs.Assert},
		{Start, Args{Group: []int{0, 3}}, errs.Group},
		{Post, Args{Assert: NoCheck | NoStore | NoPut}, errs.Success},
		{Post, Args{Assert: NoSucceed}, errs.Assert},
		{Post, Args{Group: []int{-1}}, errs.Group},
		{Post, Args{Target: 77}, errs.Success},
		{calls, Args{}, errs.Intern},
	} {
		if err := New(0, 3).Do(c.c, c.a); errs.Of(err) != c.want {
			t.Errorf("%v with %+v: %v, want class %d", c.c, c.a, err, int(c.want))
		}
	}
}

// TestSequences has orders of calls that programs make. ! stands before what must fail.
func TestSequences(t *testing.T) {
	group := []int{0, 1, 2}
	words := map[string]event{
		"fence": {Fence, Args{}}, "last": {Fence, Args{Assert: NoSucceed}}, "get": {Access, Args{Target: 2}},
		"rget": {AccessReq, Args{Target: 2}}, "nowhere": {Access, Args{Target: ProcNull}}, "free": {Free, Args{}},
		"post": {Post, Args{Group: group}}, "wait": {Wait, Args{}}, "start": {Start, Args{Group: group}},
		"start0": {Start, Args{Group: group[:1]}}, "complete": {Complete, Args{}},
		"lock": {Lock, Args{Target: 2, Lock: Shared}}, "unlock": {Unlock, Args{Target: 2}},
		"lock1": {Lock, Args{Target: 1, Lock: Exclusive}}, "unlock1": {Unlock, Args{Target: 1}},
		"lockself": {Lock, Args{Target: 0, Lock: Exclusive}}, "lockall": {LockAll, Args{}},
		"unlockself": {Unlock, Args{Target: 0}},
		"unlockall":  {UnlockAll, Args{}}, "flush": {Flush, Args{Target: 2}}, "flushall": {FlushAll, Args{}},
	}
	for _, line := range []string{
		"!complete free",
		"post start get !free complete wait free",
		"lock !free unlock free",
		"post start get !lock complete wait free",
		"fence lock get unlock !get fence free",
		"lock !lock unlock free",
		"post start get !start complete !complete wait free",
		"!get free",
		"!unlock free",
		"fence get !free fence free",
		"fence get last !get free",
		"fence fence get !post !start !lock !lockall fence post !fence !free wait free",
		"lock lock1 get unlock1 flush unlock !flush !flushall",
		"lock !unlock1 lock1 unlock !get !flush flushall unlock1",
		"start0 !get nowhere complete",
		"post !lockself !lockall lock get rget unlock wait lockall rget flush flushall !post unlockall free",
		"lockself !post unlockself post wait",
		"fence !rget nowhere start get complete !get",
	} {
		w := New(0, 3)
		for word := range strings.FieldsSeq(line) {
			name, bad := strings.CutPrefix(word, "!")
			e, ok := words[name]
			if !ok {
				t.Fatalf("%q: no call %s", line, name)
			}
			if err := w.Do(e.c, e.a); bad != (errs.Of(err) == errs.RMASync) || !bad && err != nil {
				t.Errorf("%q: %s: %v", line, word, err)
			}
		}
	}
}

// TestDocs has the table of the page agree with the rules.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/design/mpi-windows.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := document(); !strings.Contains(string(page), want) {
		t.Errorf("docs/design/mpi-windows.md has not\n%s", want)
	}
}

// document is the table of rules as text.
func document() string {
	var b strings.Builder
	b.WriteString("| Call |")
	for s := range states {
		fmt.Fprintf(&b, " %v |", s)
	}
	b.WriteString(" posted |\n|---|" + strings.Repeat("---|", int(states)+1) + "\n")
	for c := range calls {
		fmt.Fprintf(&b, "| %v |", c)
		for s := range states {
			b.WriteString(map[bool]string{true: " yes |", false: " |"}[rules[c].in.hasState(s)])
		}
		fmt.Fprintf(&b, " %s |\n", [...]string{"", "yes", "no"}[rules[c].posted])
	}
	return strings.ReplaceAll(b.String(), "|  |", "| |")
}

// TestOpen: what Open says is what Check says, in each state that calls lead to.
func TestOpen(t *testing.T) {
	const ranks = 3
	for _, calls := range [][]call{
		{},
		{{Fence, Args{}}},
		{{Fence, Args{}}, {Access, Args{Target: 1}}},
		{{Fence, Args{}}, {Access, Args{Target: ProcNull}}},
		{{Start, Args{Group: []int{2}}}},
		{{Start, Args{Group: []int{0, 2}}}},
		{{Start, Args{}}},
		{{Lock, Args{Target: 1, Lock: Shared}}},
		{{Lock, Args{Target: 1, Lock: Shared}}, {Lock, Args{Target: 2, Lock: Exclusive}}},
		{{Lock, Args{Target: 1, Lock: Shared}}, {Lock, Args{Target: 2, Lock: Shared}}, {Unlock, Args{Target: 1}}},
		{{Lock, Args{Target: 1, Lock: Shared}}, {Unlock, Args{Target: 1}}},
		{{LockAll, Args{}}},
		{{LockAll, Args{}}, {UnlockAll, Args{}}},
	} {
		w := New(0, ranks)
		for _, c := range calls {
			if err := w.Do(c.call, c.args); err != nil {
				t.Fatal(err)
			}
		}
		state, _ := w.currentState()
		target, passive := w.Open()
		many := len(w.Targets()) > 1 // Check must be asked
		for r := range ranks {
			a := Args{Target: r}
			open := target == r || target == AnyTarget
			if may := w.Check(Access, a) == nil && state != Fenced && !many; open != may {
				t.Errorf("%v: access to %d is open: %v, want %v", calls, r, open, may)
			}
			if may := w.Check(Flush, a) == nil && !many; (open && passive) != may {
				t.Errorf("%v: flush of %d is open: %v, want %v", calls, r, open && passive, may)
			}
			if may := w.Check(AccessReq, a) == nil && !many; (open && passive) != may {
				t.Errorf("%v: access with a request to %d is open: %v, want %v", calls, r, open && passive, may)
			}
		}
	}
}

type call struct {
	call Call
	args Args
}
