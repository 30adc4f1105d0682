package exit

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func machine(t testing.TB, rank, size int) *Machine {
	t.Helper()
	m, err := New(Config{Rank: rank, Size: size, Settle: time.Second, Limit: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNew(t *testing.T) {
	for _, c := range []Config{
		{Rank: 0, Size: 0, Limit: 1},
		{Rank: 2, Size: 2, Limit: 1},
		{Rank: -1, Size: 2, Limit: 1},
		{Size: 1},
		{Size: 1, Limit: 1, Settle: -1},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// TestCodes: codes are those of the operating system, eight bits.
func TestCodes(t *testing.T) {
	for code, want := range map[int]uint8{0: 0, 1: 1, 255: 255, 256: 0, 257: 1, -1: 255, -256: 0} {
		out := machine(t, 0, 1).Exit(epoch, code)
		if len(out) != 1 || out[0].Kind != Finish || out[0].Verdict != (Verdict{want, 0}) {
			t.Errorf("code %d: %+v", code, out)
		}
	}
}

func TestWorse(t *testing.T) {
	for _, c := range []struct{ a, b, want Verdict }{
		{none, Verdict{0, 3}, Verdict{0, 3}},
		{Verdict{0, 3}, Verdict{0, 2}, Verdict{0, 2}},
		{Verdict{7, 9}, Verdict{3, 0}, Verdict{7, 9}},
		{none, none, none},
	} {
		if got := worseOf(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
		if got := worseOf(c.b, c.a); got != c.want {
			t.Errorf("%v and %v: %v", c.b, c.a, got)
		}
	}
}

func TestWire(t *testing.T) {
	for _, m := range []Message{
		{Told, 0, none}, {Round, 31, Verdict{255, 1<<31 - 1}}, {Abort, 0, Verdict{1, 0}},
	} {
		b := m.Append(nil)
		if got, err := Parse(b); err != nil || got != m || len(b) != MessageBytes {
			t.Errorf("%+v: %+v, %v", m, got, err)
		}
	}
	good := Message{Told, 0, none}.Append(nil)
	for i, x := range map[int]byte{0: 0, 1: 9, 2: 3} {
		bad := slices.Clone(good)
		bad[i] = x
		if _, err := Parse(bad); !errors.Is(err, errMessage) {
			t.Errorf("%x: %v", bad, err)
		}
	}
	if _, err := Parse(good[:7]); !errors.Is(err, errMessage) {
		t.Error(err)
	}
}

// TestLateCall: a code that comes after the rank has joined travels with what it sends from then on.
func TestLateCall(t *testing.T) {
	m := machine(t, 0, 4)
	m.Take(epoch, 1, Message{Told, 0, none})
	m.Tick(epoch.Add(time.Second))
	if out := m.Exit(epoch.Add(2*time.Second), 6); len(out) != 0 {
		t.Errorf("%+v", out)
	}
	out := m.Take(epoch.Add(3*time.Second), 3, Message{Round, 0, Verdict{2, 3}})
	want := []Action{{Kind: Send, To: 2, Msg: Message{Round, 1, Verdict{6, 0}}}}
	if !slices.Equal(out, want) {
		t.Errorf("%+v, want %+v", out, want)
	}
}

// TestNonsense: messages that no rank sends change nothing.
func TestNonsense(t *testing.T) {
	m := machine(t, 0, 4)
	for _, x := range []struct {
		from int
		msg  Message
	}{
		{-1, Message{Told, 0, none}},
		{4, Message{Told, 0, none}},
		{1, Message{Round, 0, none}}, // that of round 0 comes from rank 3
		{3, Message{Round, 2, none}}, // there are two rounds
		{3, Message{Kind(9), 0, none}},
	} {
		if out := m.Take(epoch, x.from, x.msg); out != nil || m.Begun() {
			t.Errorf("%+v: %+v", x, out)
		}
	}
}

// FuzzMachine gives a machine any inputs: it ends at most once, sends a bounded number of messages, all to ranks of
// the job, and ends by the limit.
func FuzzMachine(f *testing.F) {
	f.Add(uint16(5), uint16(2), []byte{0, 3, 1, 2, 2, 0, 0, 5, 3, 1, 4, 9})
	f.Fuzz(func(t *testing.T, size, rank uint16, script []byte) {
		n := int(size)%200 + 1
		m := machine(t, int(rank)%n, n)
		now, sent, ends := epoch, 0, 0
		take := func(out []Action) {
			for _, a := range out {
				switch {
				case ends > 0:
					t.Fatalf("%+v after the end", a)
				case a.Kind != Send:
					ends++
				case a.To < 0 || a.To >= n || a.To == m.cfg.Rank:
					t.Fatalf("%+v", a)
				default:
					sent++
				}
			}
		}
		for ; len(script) >= 2; script = script[2:] {
			arg := int(script[1])
			now = now.Add(time.Duration(arg) * time.Millisecond)
			switch script[0] % 6 {
			case 0:
				take(m.Exit(now, arg))
			case 1:
				take(m.Take(now, arg%n, Message{Told, 0, Verdict{uint8(arg), arg}}))
			case 2:
				take(m.Take(now, arg%n, Message{Round, script[0] / 6, Verdict{uint8(arg), arg % n}}))
			case 3:
				take(m.Died(arg % n))
			case 4:
				take(m.Tick(now))
			case 5:
				take(m.Take(now, arg%n, Message{Abort, 0, Verdict{uint8(arg), 0}}))
			}
		}
		if sent > 3*maxRounds || sent > 3*m.rounds {
			t.Fatalf("%d messages", sent)
		}
		if take(m.Tick(now.Add(time.Hour))); m.Begun() && ends != 1 {
			t.Fatal("not over at the limit")
		}
	})
}

// FuzzParse: what can be read is what Append writes.
func FuzzParse(f *testing.F) {
	f.Add(Message{Round, 3, Verdict{4, 5}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err == nil && !slices.Equal(m.Append(nil), b) {
			t.Fatalf("%x was read as %+v", b, m)
		}
	})
}
