package credit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/scenario"
)

// model is what a scenario runs on: the ledger, or the naive algorithm.
type model interface {
	lend(y, x, n int)              // y's loan to x grows by n, before the scenario
	send(x, y, n int) bool         // a request of n credits, which stays on its way
	receive(y, x, n int)           // y receives it, and x learns of the credits returned
	need(y, x, n int)              // y learns that x needs n more
	deliver(lose bool, away []int) // all system messages, and those they cause; lose: a RETURN is lost
	apart(on bool)                 // the scavenge list is changed after the state was unlocked, in the wrong order
	loan(y, x int) (lender, borrower, inUse int)
	listed(y, x int) bool
}

// TestScenarios runs each file on the ledger, where every check must hold, and on the naive algorithm, where one of
// them must not.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(string) []string {
		ledger, naive := &side{t: t}, &side{t: t, naive: true}
		told := false // a check has told the two apart
		t.Cleanup(func() {
			if !told {
				t.Error("no check tells the ledger from the naive algorithm")
			}
		})
		return func(line string) []string {
			text, _, _ := strings.Cut(line, "#")
			good, l := ledger.line(text)
			holds, n := naive.line(text)
			if !good {
				t.Errorf("%s: does not hold on the ledger: %s", line, l)
			}
			told = told || !holds
			if l == "" {
				return nil
			}
			return []string{"ledger: " + l, "naive: " + n}
		}
	})
}

// side is a scenario on one of the two.
type side struct {
	t     *testing.T
	m     model
	c     Config
	naive bool
	away  []int
}

// line does what a line says. A check returns whether it holds, and what it has found.
func (s *side) line(text string) (holds bool, found string) {
	s.t.Helper()
	w := strings.Fields(text)
	var a []int
	for _, f := range w[1:] {
		if n, err := strconv.Atoi(f); err == nil {
			a = append(a, n)
		}
	}
	var err error
	if w[0] == "check" {
		holds, found, err = s.check(w[1], append(a, 0))
	} else {
		holds, err = true, s.act(w, a)
	}
	if err != nil {
		s.t.Fatalf("%s, naive %v: %v", text, s.naive, err)
	}
	return holds, found
}

func (s *side) act(w []string, a []int) error {
	k := len(a)
	a = append(a, 0, 0, 0, 0)
	switch w[0] {
	case "ranks":
		return s.start(a[0], w[2:])
	case "lend":
		s.m.lend(a[0], a[1], a[2])
	case "send": // x y credits: one request for each
		for range a[2] {
			if !s.m.send(a[0], a[1], 1) {
				return fmt.Errorf("it stalled")
			}
		}
	case "traffic": // x y requests, received one by one
		for range a[2] {
			if s.m.send(a[0], a[1], 1) {
				s.m.receive(a[1], a[0], 1)
			}
		}
	case "need": // y x credits, times: again after system messages have arrived
		for range max(1, a[3]) {
			s.m.need(a[0], a[1], a[2])
			if k == 4 {
				s.m.deliver(false, s.away)
			}
		}
	case "away":
		s.away = append(s.away, a[:k]...)
	case "deliver":
		s.m.deliver(len(w) > 1 && w[1] == "lose", s.away)
	case "apart", "together":
		s.m.apart(w[0] == "apart")
	default:
		return fmt.Errorf("unknown command")
	}
	return nil
}

func (s *side) start(ranks int, settings []string) error {
	s.c = Config{Min: 4, PerPeer: 4, Max: 400, LenderLimit: 32, RevokeLimit: 32, Scavenge: 6, Patience: 8, Epoch: 8, Narrow: true}
	names := map[string]*int{
		"bank": &s.c.Bank, "loan": &s.c.PerPeer, "max": &s.c.Max, "scavenge": &s.c.Scavenge, "epoch": &s.c.Epoch,
	}
	for _, kv := range settings {
		name, value, _ := strings.Cut(kv, "=")
		if names[name] == nil {
			return fmt.Errorf("no setting %q", name)
		}
		if _, err := fmt.Sscan(value, names[name]); err != nil {
			return err
		}
	}
	if s.naive {
		s.m = naiveModel{newNaive(s.c, ranks)}
		return nil
	}
	w, err := newWorld(1, ranks, s.c, false)
	s.m = ledgerModel{s.t, w}
	return err
}

// check: "fits y x" (x uses no more than it was lent), "agree y x", "listed y x", "loan y x N" (at least N).
func (s *side) check(what string, a []int) (holds bool, found string, err error) {
	lender, borrower, inUse := s.m.loan(a[0], a[1])
	switch what {
	case "fits":
		holds = inUse <= borrower && borrower <= lender
	case "agree":
		holds = lender == borrower
	case "listed":
		holds = s.m.listed(a[0], a[1])
	case "loan":
		holds = lender >= a[2] && borrower >= a[2]
	default:
		return false, "", fmt.Errorf("unknown check")
	}
	found = fmt.Sprintf("%v; lent %d, of which the borrower knows %d and uses %d", holds, lender, borrower, inUse)
	return holds, found, nil
}

type naiveModel struct{ *naive }

func (m naiveModel) lend(y, x, n int) {
	r := m.ranks[y]
	q, p := m.pair(y, x)
	if q.loan == m.c.Min {
		r.list = append(r.list, x)
	}
	r.bank -= n
	q.loan += n
	p.send += n
}

func (m naiveModel) deliver(lose bool, away []int) {
	var kept []naiveMessage
	for len(m.sys) > 0 {
		s := m.sys[0]
		m.sys = m.sys[1:]
		if slices.Contains(away, s.dst) {
			kept = append(kept, s)
		} else if !lose || s.revoke {
			m.serve(s)
		}
	}
	m.sys = kept
}

func (m naiveModel) apart(on bool) {
	if m.naive.apart = on; !on {
		m.meet()
	}
}

func (m naiveModel) loan(y, x int) (lender, borrower, inUse int) {
	q, p := m.pair(y, x)
	return q.loan, p.send, p.inUse
}

func (m naiveModel) listed(y, x int) bool {
	return slices.Contains(m.ranks[y].list, x)
}

type ledgerModel struct {
	t *testing.T
	w *world
}

// after hears what was told, and checks every invariant.
func (m ledgerModel) after() {
	m.t.Helper()
	for _, n := range m.w.notes {
		if _, err := m.w.pairs[n.dst][n.src].Hear32(n.w); err != nil {
			m.t.Fatal(err)
		}
	}
	m.w.notes = m.w.notes[:0]
	for y, g := range m.w.ranks {
		if err := g.Check(); err != nil {
			m.t.Fatalf("rank %d: %v", y, err)
		}
	}
}

func (m ledgerModel) lend(y, x, n int) {
	g := m.w.ranks[y]
	g.grantMore(x, &g.peers[x], n)
	g.peers[x].given = 0
	m.w.tell(y, x)
	m.after()
}

func (m ledgerModel) send(x, y, n int) bool {
	b := &m.w.pairs[x][y]
	if !b.Take(n) {
		return false
	}
	m.w.records = append(m.w.records, record{x, y, n, b.Wire(n, m.w.ranks[x].Epoch())})
	return true
}

func (m ledgerModel) receive(y, x, _ int) {
	for i, r := range m.w.records {
		if r.src == x && r.dst == y {
			m.w.records = append(m.w.records[:i], m.w.records[i+1:]...)
			m.w.receive(r)
			m.w.tell(y, x)
			break
		}
	}
	m.after()
}

func (m ledgerModel) need(y, x, n int) {
	if m.w.ranks[y].Need(x, n) > 0 {
		m.w.tell(y, x)
	}
	m.w.collect(y)
	m.after()
}

func (m ledgerModel) deliver(lose bool, away []int) {
	var kept []sentMessage
	for len(m.w.system) > 0 {
		s := m.w.system[0]
		m.w.system = m.w.system[1:]
		if slices.Contains(away, s.Peer) {
			kept = append(kept, s)
			continue
		}
		if lose && s.Kind == Return {
			continue
		}
		if err := m.w.serve(s); err != nil {
			m.t.Fatal(err)
		}
	}
	m.w.system = kept
	m.after()
}

func (m ledgerModel) apart(bool) {} // the list and the loan change in one step

func (m ledgerModel) loan(y, x int) (lender, borrower, inUse int) {
	b := &m.w.pairs[x][y]
	return m.w.ranks[y].Peer(x).Loan, b.Loan(), b.InUse()
}

func (m ledgerModel) listed(y, x int) bool { return m.w.ranks[y].Peer(x).Listed }
