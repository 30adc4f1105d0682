package groupmsg

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/explore"
)

// Names of three meetings; the first two have one tag.
var names = [...]Name{0xabcdef1<<36 | 1, 0xabcdef1<<36 | 2, 0x1234567<<36 | 1}

// world is one rank with meetings that each expect messages of one source. Its receives complete in the order of the
// messages of a tag.
type world struct {
	plan
	desk   *Router[int, string] // who waits is the number of the meeting
	sent   [3]int               // messages sent for each meeting
	got    [3]int               // received
	waits  [3]bool
	left   [3]bool
	wires  []wire
	posted map[int]int // receives by tag
	fault  error
}

type plan struct {
	each   [3]int // messages of each meeting
	leaves bool   // each may stop to wait once, and wait again
}

type wire struct {
	name Name
	text string
}

func newWorld(p plan) *world {
	return &world{plan: p, desk: new(Router[int, string]), posted: make(map[int]int)}
}

const source = 7

// possible lists steps: s a send, w a wait, l the end of one, t a message that comes for a receive of that tag.
func (w *world) possible() (steps []string) {
	for i, name := range names {
		if w.sent[i] < w.each[i] {
			steps = append(steps, fmt.Sprint("s ", i))
		}
		if !w.waits[i] && w.got[i] < w.each[i] {
			steps = append(steps, fmt.Sprint("w ", i))
		}
		if w.leaves && w.waits[i] && !w.left[i] {
			steps = append(steps, fmt.Sprint("l ", i))
		}
		if w.posted[name.Tag()] > 0 && i != 1 && w.head(name.Tag()) >= 0 {
			steps = append(steps, fmt.Sprint("t ", i))
		}
	}
	return steps
}

func (w *world) head(tag int) int {
	return slices.IndexFunc(w.wires, func(m wire) bool { return m.name.Tag() == tag })
}

func (w *world) Steps() []string { return w.possible() }

func (w *world) Do(n int) {
	var what string
	var i int
	if _, err := fmt.Sscan(w.possible()[n], &what, &i); err != nil {
		panic(err)
	}
	name := names[i]
	switch what {
	case "s":
		w.wires = append(w.wires, wire{name, fmt.Sprint(i, ".", w.sent[i])})
		w.sent[i]++
	case "w":
		m, ok, post := w.desk.Wait(name, source, i)
		if w.waits[i] = !ok; ok {
			w.take(i, m)
		}
		w.post(post, name.Tag())
	case "l":
		who, ok := w.desk.Leave(name, source)
		w.waits[i], w.left[i] = false, true
		if !ok || who != i {
			w.fault = fmt.Errorf("meeting %d leaves: %d, %t", i, who, ok)
		}
	case "t":
		at := w.head(name.Tag())
		m := w.wires[at]
		w.wires = slices.Delete(w.wires, at, at+1)
		w.posted[name.Tag()]--
		who, ok, post := w.desk.Completed(m.name, source, m.text)
		if ok {
			if !w.waits[who] {
				w.fault = fmt.Errorf("meeting %d gets %s and does not wait", who, m.text)
			}
			w.waits[who] = false
			w.take(who, m.text)
		}
		w.post(post, name.Tag())
	}
}

func (w *world) take(i int, text string) {
	if want := fmt.Sprint(i, ".", w.got[i]); text != want {
		w.fault = fmt.Errorf("meeting %d gets %s, not %s", i, text, want)
	}
	w.got[i]++
}

func (w *world) post(post bool, tag int) {
	if post {
		w.posted[tag]++
	}
}

func (w *world) Clone() explore.World {
	c := *w
	c.wires = slices.Clone(w.wires)
	c.posted = make(map[int]int)
	for tag, n := range w.posted {
		c.posted[tag] = n
	}
	c.desk = &Router[int, string]{posted: make(map[recvKey]*counter[int]), early: make(map[sender][]string)}
	for p, k := range w.desk.posted {
		c.desk.posted[p] = &counter[int]{k.posted, slices.Clone(k.waiting)}
	}
	for s, list := range w.desk.early {
		c.desk.early[s] = slices.Clone(list)
	}
	return &c
}

func (w *world) Key() string {
	var b strings.Builder
	fmt.Fprint(&b, w.sent, w.got, w.waits, w.left, w.wires, w.posted, w.desk.early)
	for _, name := range names {
		if k := w.desk.posted[recvKey{source, name.Tag()}]; k != nil {
			fmt.Fprint(&b, *k)
		}
	}
	return b.String()
}

// Check has a receive for each meeting that waits, and one more at most for each that stopped. At rest all is received.
func (w *world) Check(bool) error {
	if w.fault != nil {
		return w.fault
	}
	waiting, stopped := make(map[int]int), make(map[int]int)
	all := true
	for i, name := range names {
		if w.waits[i] {
			waiting[name.Tag()]++
		}
		if w.left[i] {
			stopped[name.Tag()]++
		}
		all = all && w.got[i] == w.each[i]
	}
	for tag, n := range w.posted {
		if n < waiting[tag] || n > waiting[tag]+stopped[tag] {
			return fmt.Errorf("%d receives of tag %x are posted, %d wait", n, tag, waiting[tag])
		}
	}
	rest := !slices.ContainsFunc(w.possible(), func(s string) bool { return s[0] != 'l' })
	if rest && (!all || w.desk.countAside() != 0 || len(w.desk.posted) > 0 && !w.leaves) {
		return fmt.Errorf("at rest %v of %v are received, %d aside", w.got, w.each, w.desk.countAside())
	}
	return nil
}

// TestExplore follows meetings through every order of sends, waits and completions.
func TestExplore(t *testing.T) {
	plans := []plan{
		{each: [3]int{2, 2, 1}},
		{each: [3]int{1, 1, 1}, leaves: true},
		{each: [3]int{2, 1, 0}, leaves: true},
	}
	if !testing.Short() {
		plans = append(plans, plan{each: [3]int{2, 2, 0}, leaves: true}, plan{each: [3]int{3, 2, 0}})
	}
	for _, p := range plans {
		r, err := explore.All(newWorld(p), 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: %d states, %d rests", p, r.States, r.Rests)
	}
}
