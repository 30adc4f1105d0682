package barrier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/realm/internal/event"
)

// token is the right to make one arrival at a phase. A rank may pass it on.
type token struct {
	rank int
	h    Handle
}

// model is a job beside what its users have done, one call after the other. A phase is complete when it has no tokens.
type model struct {
	*job
	tokens   map[uint64][]token
	sums     map[uint64]uint64
	poisoned map[uint64]bool
	waits    []mark
	used     []uint64 // the first phase that each rank has arrived at or altered
	first    uint64
	last     uint64
	pick     func(n int) int
}

// newModel has some phases of a barrier on some ranks, from a phase on.
func newModel(t testing.TB, first uint64, pick func(n int) int) *model {
	n, count := 1+pick(9), 1+pick(4)
	m := &model{
		job: newJob(t, n, int64(count)), tokens: make(map[uint64][]token), sums: make(map[uint64]uint64),
		poisoned: make(map[uint64]bool), first: first, last: first + uint64(pick(25)), pick: pick,
	}
	m.begin(first)
	m.used = slices.Repeat([]uint64{m.last + 1}, n)
	for p := first; p <= m.last; p++ {
		for range count {
			m.tokens[p] = append(m.tokens[p], token{pick(n), Handle{Phase: p}})
		}
	}
	return m
}

// spend has the holder of a token use it up.
func (m *model) spend(p uint64, i int) error {
	x := m.tokens[p][i]
	m.tokens[p] = slices.Delete(m.tokens[p], i, i+1)
	m.used[x.rank] = min(m.used[x.rank], p)
	switch m.pick(12) {
	case 0:
		_, err := m.alter(x.rank, x.h, -1)
		return err
	case 1:
		m.poisoned[p] = true
		return m.arrive(x.rank, x.h, 1, nil, &event.Poison{Text: "planned"})
	case 2, 3:
		return m.arrive(x.rank, x.h, 1, nil, nil)
	}
	v := uint64(m.pick(1000))
	m.sums[p] += v
	return m.arrive(x.rank, x.h, 1, number(v), nil)
}

// user has some rank do something.
func (m *model) user() error {
	p := m.first + uint64(m.pick(int(m.last-m.first)+1))
	if m.pick(3) > 0 { // mostly at the first phases that are not complete
		for p = m.first; p < m.last && len(m.tokens[p]) == 0; p++ {
		}
	}
	if len(m.tokens[p]) == 0 {
		return nil
	}
	i := m.pick(len(m.tokens[p]))
	x := &m.tokens[p][i]
	if m.dead[x.rank] {
		return nil
	}
	switch m.pick(5) {
	case 0:
		x.rank = m.living()
	case 1:
		k := 1 + m.pick(3)
		m.used[x.rank] = min(m.used[x.rank], p)
		h, err := m.alter(x.rank, x.h, int64(k))
		x.h = h
		for range k {
			m.tokens[p] = append(m.tokens[p], token{x.rank, h})
		}
		return err
	default:
		return m.spend(p, i)
	}
	return nil
}

func (m *model) living() int {
	for {
		if r := m.pick(len(m.bs)); !m.dead[r] {
			return r
		}
	}
}

// step does one thing.
func (m *model) step(deaths bool) error {
	switch k := m.pick(40); {
	case k < 12:
		return m.user()
	case k < 16:
		at := mark{m.living(), m.first + uint64(m.pick(int(m.last-m.first)+1))}
		if !slices.Contains(m.waits, at) {
			m.waits = append(m.waits, at)
			m.wait(at.rank, at.phase)
		}
	case k < 21:
		m.flush(m.living())
	case k == 21:
		m.move(m.living(), m.pick(len(m.bs)))
	case k == 22 && deaths && len(m.bs) > 1 && !slices.Contains(m.dead, true):
		if m.pick(5) == 0 {
			m.die(m.pick(len(m.bs)))
		}
	default:
		m.progress()
	}
	return nil
}

// progress delivers a message, or loses one of a dead rank, or tells a rank of the death.
func (m *model) progress() {
	if len(m.wires) == 0 {
		m.tellAll()
		return
	}
	i := m.pick(len(m.wires))
	if m.dead[m.wires[i].from] && m.pick(2) == 0 {
		m.wires = slices.Delete(m.wires, i, i+1)
		m.tellAll()
		return
	}
	m.deliver(i)
}

func (m *model) tellAll() {
	d := slices.Index(m.dead, true)
	for r := range m.bs {
		if d >= 0 && m.tellable(r, d) && m.pick(2) == 0 {
			m.tell(r, d)
		}
	}
}

// settle lets everything happen that can.
func (m *model) settle() error {
	for p := m.first; p <= m.last; p++ {
		for i := 0; i < len(m.tokens[p]); i++ {
			if m.dead[m.tokens[p][i].rank] {
				continue
			}
			if err := m.spend(p, i); err != nil {
				return err
			}
			i--
		}
	}
	for m.rest() {
		m.progress()
	}
	return nil
}

// rest flushes all ranks, and tells whether something is under way.
func (m *model) rest() bool {
	d := slices.Index(m.dead, true)
	again := len(m.wires) > 0
	for r := range m.bs {
		if !m.dead[r] && m.dirty(r) {
			m.flush(r)
			again = true
		}
		again = again || d >= 0 && m.tellable(r, d)
	}
	return again
}

// check looks at all that has fired, and at what waits for ever.
func (m *model) check(rest bool) error {
	if len(m.errs) > 0 || len(m.owners()) > 1 {
		return fmt.Errorf("owners %v, %v", m.owners(), m.errs)
	}
	complete := m.first
	for complete <= m.last && len(m.tokens[complete]) == 0 {
		complete++
	}
	died := slices.Contains(m.dead, true)
	for at, how := range m.fired {
		switch {
		case died && strings.Contains(how, "died"):
		case m.last-m.first >= Kept && strings.Contains(how, "forgotten"):
		case at.phase >= complete:
			return fmt.Errorf("%v fires, but phase %d is not complete", at, complete)
		case (how == "planned") != m.poisoned[at.phase] || how != "ok" && how != "planned":
			return fmt.Errorf("%v fires with %q; poisoned: %t", at, how, m.poisoned[at.phase])
		default:
			if err := m.result(at); err != nil {
				return err
			}
		}
	}
	if !rest {
		return nil
	}
	sure := m.last + 1 // phases before this one must be over
	if died && !m.known() {
		sure = min(complete, m.used[slices.Index(m.dead, true)])
	}
	for _, at := range m.waits {
		if _, ok := m.fired[at]; !ok && !m.dead[at.rank] && at.phase < sure {
			return fmt.Errorf("%v waits for ever", at)
		}
	}
	return nil
}

// known tells whether the owner is dead, or knows of the dead rank.
func (m *model) known() bool {
	own := m.owners()
	return len(own) == 0 || m.bs[own[0]].members.hasRank(int32(slices.Index(m.dead, true)))
}

func (m *model) result(at mark) error {
	v, err := m.bs[at.rank].Result(at.phase)
	if err != nil && m.last-m.first >= Kept {
		return nil
	}
	if err != nil || value(v) != m.sums[at.phase] {
		return fmt.Errorf("%v: result %d, not %d, %v", at, value(v), m.sums[at.phase], err)
	}
	return nil
}

// play runs a model for some steps and lets it settle.
func play(t testing.TB, first uint64, steps int, deaths bool, pick func(n int) int) error {
	m := newModel(t, first, pick)
	for i := range steps {
		if err := m.step(deaths); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := m.check(false); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	if err := m.settle(); err != nil {
		return err
	}
	return m.check(true)
}

// TestModel plays random programs, with and without a death, also where the generations of IDs wrap.
func TestModel(t *testing.T) {
	runs := 6000
	if testing.Short() {
		runs = 1500
	}
	start := rand.Uint64()
	for i := range uint64(runs) {
		seed := start + i
		first := []uint64{1, window - 3, 7 * window}[i%3]
		if err := play(t, first, 60+int(i%300), i%2 == 1, rand.New(rand.NewPCG(seed, 0)).IntN); err != nil {
			t.Fatalf("seed %d of run %d: %v", seed, i, err)
		}
	}
}

// FuzzModel plays the program that the bytes choose.
func FuzzModel(f *testing.F) {
	f.Add([]byte{3, 2, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, false)
	f.Add([]byte{8, 3, 24, 250, 130, 33, 17, 22, 0, 5, 90, 1, 0, 3, 22, 39, 38, 37}, true)
	f.Fuzz(func(t *testing.T, data []byte, deaths bool) {
		n, rest := 0, rand.New(rand.NewPCG(uint64(len(data)), 1))
		pick := func(k int) int {
			if n++; n <= len(data) {
				return int(data[n-1]) % k
			}
			return rest.IntN(k)
		}
		if err := play(t, window-2, min(len(data), 300), deaths, pick); err != nil {
			t.Error(err)
		}
	})
}
