package groupmsg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func list(t *testing.T, processes ...int32) *group.Group {
	t.Helper()
	g, err := group.New(processes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestMake has meetings that differ in one thing, and one that differs in nothing.
func TestMake(t *testing.T) {
	a, b, c := list(t, 0, 1), list(t, 1, 0), list(t, 2)
	seen := make(map[Name]string)
	add := func(what string, n Name) {
		if other, twice := seen[n]; twice {
			t.Errorf("%s has the name of %s", what, other)
		}
		seen[n] = what
	}
	for reason := range reasons {
		add(fmt.Sprint("reason ", reason), Make(reason, 1, 2, "", a))
	}
	for i := range 3 {
		add(fmt.Sprint("parent ", i), Make(0, uint64(i+2), 2, "", a))
		add(fmt.Sprint("tag ", i), Make(0, 1, i+3, "", a))
	}
	for _, text := range []string{"a", "b", "a\x00", "\x00a", "12345678", "123456789", "12345678a", "1234567887654321", "8765432112345678"} {
		add("text "+text, Make(0, 1, 2, text, a))
	}
	add("another order", Make(0, 1, 2, "", b))
	add("another group", Make(0, 1, 2, "", c))
	add("two groups", Make(0, 1, 2, "", a, c))
	add("in another order", Make(0, 1, 2, "", c, a))
	add("parted elsewhere", Make(0, 1, 2, "", list(t, 0), list(t, 1, 2)))
	add("an empty group", Make(0, 1, 2, "", a, group.Empty))
	add("no group", Make(0, 1, 2, ""))
	if Make(0, 1, 2, "x", group.Range(0, 2)) != Make(0, 1, 2, "x", a) {
		t.Error("the name depends on how the group is kept")
	}
}

// TestSpread names many meetings that differ little. No two names are equal, and tags are as even as chance has it.
func TestSpread(t *testing.T) {
	const n = 1 << 16
	seen := make(map[Name]bool)
	var high [16]int
	for i := range n {
		name := Make(Reason(i%4), uint64(i/4%64), i/256, "", group.Range(i%3, 5))
		if seen[name] {
			t.Fatalf("meeting %d has the name of another one", i)
		}
		seen[name] = true
		if name.Tag() < 0 || name.Tag() >= 1<<28 {
			t.Fatalf("the tag is %x", name.Tag())
		}
		high[name.Tag()>>24]++
	}
	for i, k := range high {
		if k < n/16*9/10 || k > n/16*11/10 {
			t.Errorf("%d of %d tags begin with %x", k, n, i)
		}
	}
}

// TestCut parts messages again.
func TestCut(t *testing.T) {
	for _, name := range []Name{0, 1, 0x0123456789abcdef, 1<<64 - 1} {
		b := append(name.Append([]byte("x")), "contents"...)[1:]
		if n, contents, err := Cut(b); n != name || string(contents) != "contents" || err != nil {
			t.Errorf("%x is %x with %q, %v", name, n, contents, err)
		}
		if n, contents, err := Cut(b[:Size]); n != name || len(contents) != 0 || err != nil {
			t.Errorf("%x without contents is %x with %q, %v", name, n, contents, err)
		}
		if _, _, err := Cut(b[:Size-1]); errs.Of(err) != errs.Intern {
			t.Errorf("a message that is too short: %v", err)
		}
	}
}

// TestGone ends waits for one rank, and no others.
func TestGone(t *testing.T) {
	var d Router[string, string]
	wait := func(name Name, from int, who string, want bool) {
		t.Helper()
		if _, ok, post := d.Wait(name, from, who); ok || post != want {
			t.Errorf("%s waits: %t, post %t", who, ok, post)
		}
	}
	wait(names[0], 1, "a", true)
	wait(names[1], 1, "b", true)
	wait(names[2], 1, "c", true)
	wait(names[0], 2, "d", true)
	d.Completed(names[2]+1, 1, "left over")
	d.Completed(names[1], 2, "other")
	who := d.Gone(1)
	slices.Sort(who)
	if !slices.Equal(who, []string{"a", "b", "c"}) || d.countAside() != 1 {
		t.Errorf("%q waited, %d messages are kept", who, d.countAside())
	}
	if _, ok := d.Leave(names[0], 1); ok {
		t.Error("somebody waits for a rank that has gone")
	}
	if who, ok := d.Leave(names[0], 2); !ok || who != "d" {
		t.Errorf("%q, %t waits for rank 2", who, ok)
	}
	wait(names[0], 2, "d", false)
	if m, ok, post := d.Wait(names[1], 2, "e"); m != "other" || !ok || post {
		t.Errorf("the message that is kept: %q, %t, %t", m, ok, post)
	}
	wait(names[0], 1, "f", true)
}

// TestUnasked has messages for which no receive was posted. They do not count as completions of later ones.
func TestUnasked(t *testing.T) {
	var d Router[int, int]
	for i := range 2 {
		if _, ok, post := d.Completed(names[0], 1, i); ok || post {
			t.Errorf("an unasked message is for somebody: %t, post %t", ok, post)
		}
	}
	for i := range 2 {
		if _, ok, post := d.Wait(names[1], 1, i); ok || !post {
			t.Errorf("wait %d: %t, post %t", i, ok, post)
		}
	}
	if who, ok, post := d.Completed(names[1], 1, 5); who != 0 || !ok || post {
		t.Errorf("the message is for %d, %t, post %t", who, ok, post)
	}
	if d.countAside() != 2 {
		t.Errorf("%d messages are kept", d.countAside())
	}
}

// TestWalk has many meetings and sources at random, with a queue for each pair as model.
func TestWalk(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var d Router[sender, int]
	wires := make(map[recvKey][]wire)
	posted, waits := make(map[recvKey]int), make(map[sender]bool)
	sent, got := make(map[sender]int), make(map[sender]int)
	take := func(s sender, m int) {
		if m != got[s] {
			t.Fatalf("%v gets message %d, not %d", s, m, got[s])
		}
		got[s]++
		waits[s] = false
	}
	count := func(p recvKey, post bool) {
		if post {
			posted[p]++
		}
	}
	for range 20000 {
		s := sender{Name(uint64(r.IntN(2))<<40 | uint64(r.IntN(4))), r.IntN(3)}
		p := recvKey{s.from, s.name.Tag()}
		switch r.IntN(3) {
		case 0:
			wires[p] = append(wires[p], wire{s.name, fmt.Sprint(sent[s])})
			sent[s]++
		case 1:
			if !waits[s] {
				waits[s] = true
				m, ok, post := d.Wait(s.name, s.from, s)
				if ok {
					take(s, m)
				}
				count(p, post)
			}
		default:
			if posted[p] > 0 && len(wires[p]) > 0 {
				m := wires[p][0]
				wires[p] = wires[p][1:]
				posted[p]--
				var number int
				fmt.Sscan(m.text, &number)
				who, ok, post := d.Completed(m.name, s.from, number)
				if ok {
					take(who, number)
				}
				count(p, post)
			}
		}
	}
	for s := range waits {
		if p := (recvKey{s.from, s.name.Tag()}); waits[s] && posted[p] == 0 {
			t.Errorf("%v waits without a receive", s)
		}
	}
}

// FuzzCut parts any message, and puts it together again.
func FuzzCut(f *testing.F) {
	f.Add([]byte("12345678contents"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, contents, err := Cut(b)
		if (err == nil) != (len(b) >= Size) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err == nil && !bytes.Equal(append(n.Append(nil), contents...), b) {
			t.Errorf("%x is %x with %x", b, n, contents)
		}
	})
}
