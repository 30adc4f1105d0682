package match

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var seedFlag = flag.Uint64("seed", 0, "seed of the randomised tests; 0 takes one from the clock")

// item is a receive or a message.
type item struct{ pattern Pattern }

func (p Pattern) accepts(m Pattern) bool {
	return (p.Source == AnySource || p.Source == m.Source) && (p.Tag == AnyTag || p.Tag == m.Tag)
}

// model is what an index must do, in the plainest words: the receives and the messages that wait, oldest first.
type model struct {
	t               testing.TB
	x               Index[item]
	posts, messages []*item
}

// oldest finds the first of list that fits; -1 if none does.
func oldest(list []*item, fits func(*item) bool) int { return slices.IndexFunc(list, fits) }

// pop takes the first of list that fits out of it.
func pop(list *[]*item, fits func(*item) bool) *item {
	i := oldest(*list, fits)
	if i < 0 {
		return nil
	}
	v := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return v
}

func (m *model) same(what string, p Pattern, got, want *item) {
	if got != want {
		m.t.Fatalf("%s %v: got %v, want %v", what, p, got, want)
	}
}

// step does one operation on both sides and compares; the numbers choose it.
func (m *model) step(op, from, tag, pick int) {
	msg := Pattern{int32(from % 3), int32(tag % 3)}
	p := msg
	if pick&1 != 0 {
		p.Source = AnySource
	}
	if pick&2 != 0 {
		p.Tag = AnyTag
	}
	accepted := func(v *item) bool { return p.accepts(v.pattern) }
	switch op % 9 {
	case 0, 1, 2:
		v := &item{p}
		want := pop(&m.messages, accepted)
		m.same("Post", p, m.x.Post(p, v), want)
		if want == nil {
			m.posts = append(m.posts, v)
		}
	case 3, 4, 5:
		v := &item{msg}
		want := pop(&m.posts, func(r *item) bool { return r.pattern.accepts(msg) })
		m.same("Arrive", msg, m.x.Arrive(msg, v), want)
		if want == nil {
			m.messages = append(m.messages, v)
		}
	case 6:
		var want *item
		if i := oldest(m.messages, accepted); i >= 0 {
			want = m.messages[i]
		}
		m.same("Oldest", p, m.x.Oldest(p), want)
	case 7:
		if pick&4 != 0 {
			m.same("Take", p, m.x.Take(p), pop(&m.messages, accepted))
			return
		}
		skip, skipToo := pick>>3&1, pick>>3&1
		want := pop(&m.messages, func(v *item) bool {
			if v.pattern != msg {
				return false
			}
			skip--
			return skip < 0
		})
		m.same("TakeFunc", msg, m.x.TakeFunc(msg, func(*item) bool { skipToo--; return skipToo < 0 }), want)
	case 8:
		m.withdraw(pick)
	}
	if m.x.Len() != len(m.posts)+len(m.messages) {
		m.t.Fatalf("%d entries, want %d receives and %d messages", m.x.Len(), len(m.posts), len(m.messages))
	}
}

func (m *model) withdraw(pick int) {
	if m.x.Withdraw(Pattern{AnySource, AnyTag}, new(item)) {
		m.t.Fatal("a receive that was never posted was withdrawn")
	}
	if len(m.posts) == 0 {
		return
	}
	i := pick % len(m.posts)
	v := m.posts[i]
	m.posts = slices.Delete(m.posts, i, i+1)
	if !m.x.Withdraw(v.pattern, v) || m.x.Withdraw(v.pattern, v) {
		m.t.Fatalf("Withdraw of receive %d, %v: want true, then false", i, v.pattern)
	}
}

// compare looks at all that waits.
func (m *model) compare() {
	var posts, messages []*item
	wild := 0
	m.x.Posts(func(p Pattern, v *item) {
		if p != v.pattern {
			m.t.Fatalf("Posts gives the pattern %v for %v", p, v.pattern)
		}
		if p.Wild() {
			wild++
		}
		posts = append(posts, v)
	})
	m.x.Messages(func(_ Pattern, v *item) { messages = append(messages, v) })
	if !slices.Equal(posts, m.posts) || !slices.Equal(messages, m.messages) {
		m.t.Fatalf("what waits: %d receives and %d messages, or in another order; want %d and %d",
			len(posts), len(messages), len(m.posts), len(m.messages))
	}
	if wild != m.x.Wild() {
		m.t.Fatalf("%d receives with wildcards, Wild says %d", wild, m.x.Wild())
	}
}

func TestModel(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -run '^%s$' -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		m := &model{t: t}
		bias := rng.IntN(3) // more receives, more messages, or neither
		for i := range 1000 {
			op := rng.IntN(9)
			if bias > 0 && rng.IntN(3) == 0 {
				op = 3 * (bias - 1)
			}
			m.step(op, rng.IntN(3), rng.IntN(3), rng.IntN(16))
			if i%50 == 0 {
				m.compare()
			}
		}
		m.compare()
		m.x.Reset()
		if m.x.Len() != 0 || m.x.Wild() != 0 || m.x.Oldest(Pattern{AnySource, AnyTag}) != nil {
			t.Fatal("something is left after Reset")
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte("post some receives, let some messages come, probe, take and withdraw the others"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := &model{t: t}
		for ; len(ops) >= 4; ops = ops[4:] {
			m.step(int(ops[0]), int(ops[1]), int(ops[2]), int(ops[3]))
			m.compare()
		}
	})
}

// TestManyPatterns has more patterns come and go than the map of queues may keep.
func TestManyPatterns(t *testing.T) {
	const tags, atOnce = 100_000, 1000
	var x Index[item]
	for i := range int32(tags) {
		if r := x.Arrive(Pattern{1, i}, &item{Pattern{1, i}}); r != nil {
			t.Fatalf("message %d found a receive", i)
		}
		if i < atOnce {
			continue
		}
		want := Pattern{1, i - atOnce}
		if m := x.Post(Pattern{AnySource, want.Tag}, new(item)); m == nil || m.pattern != want {
			t.Fatalf("receive of tag %d got %v", want.Tag, m)
		}
	}
	if most := 8 * atOnce; len(x.queues.slots) > most || x.queues.n > most {
		t.Errorf("%d slots and %d queues for %d messages at once", len(x.queues.slots), x.queues.n, atOnce)
	}
	if x.Len() != atOnce {
		t.Errorf("%d messages are left, want %d", x.Len(), atOnce)
	}
}

func TestNoAllocation(t *testing.T) {
	var x Index[item]
	var a, b, c item
	round := func() {
		x.Arrive(Pattern{1, 2}, &a)
		x.Arrive(Pattern{2, 2}, &b)
		x.Post(Pattern{AnySource, 2}, &c)
		x.Post(Pattern{2, AnyTag}, &c)
		x.Post(Pattern{1, 2}, &c)
		x.Arrive(Pattern{1, 2}, &a)
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

// BenchmarkIndex has n receives or messages of different tags wait, and matches the oldest of them.
func BenchmarkIndex(b *testing.B) {
	for name, p := range map[string]func(tag int32) Pattern{
		"plain":     func(tag int32) Pattern { return Pattern{1, tag} },
		"anysource": func(tag int32) Pattern { return Pattern{AnySource, tag} },
		"any":       func(int32) Pattern { return Pattern{AnySource, AnyTag} },
	} {
		for _, n := range []int32{1, 4096} {
			b.Run(name+"/waiting="+map[int32]string{1: "1", 4096: "4096"}[n], func(b *testing.B) {
				var x Index[item]
				vs := make([]item, 2*n)
				for i := range 2 * n {
					x.Post(p(i), &vs[i])
					x.Arrive(Pattern{1, i}, &vs[i])
				}
				b.ReportAllocs()
				for i := range int32(b.N) {
					x.Arrive(Pattern{1, i % n}, &vs[i%n])
					if i >= n-1 {
						x.Post(p((i+1)%n), &vs[n+i%n])
					}
				}
			})
		}
	}
}
