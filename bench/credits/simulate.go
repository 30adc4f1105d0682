package credits

import (
	"context"
	"fmt"
	"io"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/transport/credit"
)

// Epoch is what happened in one epoch. In an epoch each rank that gets messages receives as many requests as an epoch
// has. If no rank sends, an epoch is the time that this would take.
type Epoch struct {
	Epoch      int     `json:"epoch" col:"epoch|%5d"`
	Moved      uint64  `json:"moved" col:"moved|%10d"`             // credits lent out of banks and given back to them
	Stalls     uint64  `json:"stalls" col:"stalls|%9d"`            // requests that had to wait
	Banked     int     `json:"banked" col:"banked|%10d"`           // credits in all banks, at the end
	Gini       float64 `json:"gini" col:"gini|%7.4f"`              // of all loans, at the end; 0: all are equal
	Throughput float64 `json:"throughput" col:"throughput|%10.3f"` // relative to no flow control; 0: no rank sends
	InFlight   int     `json:"inflight_max" col:"inflight|%8d"`    // the most credits on their way to a rank at once
	Revokes    uint64  `json:"revokes" col:"revokes|%8d"`
	Requests   uint64  `json:"requests" col:"requests|%11d"`
	Ticks      int     `json:"ticks" col:"ticks|%8d"`
}

// Result of a run.
type Result struct {
	Config     Config
	Rows       []Epoch
	Steady     int     // no credit moved in this epoch and after it; Epochs if one did in the last
	Smooth     int     // no request had to wait in this epoch and after it; Epochs if one did in the last
	Throughput float64 // over all rows, relative to no flow control
	Unlimited  float64 // requests in a tick without flow control
	Pairs      int     // pairs, one way, that have a state of their own
	Flows      int     // pairs, one way, that were sent over in the last epoch
	Least      int     // the smallest loan of a flow, at the end
	Largest    int     // the largest loan, at the end
	Told       []int   // by rank, messages that it has sent for the sake of credits alone
}

// freeRows is the number of epochs without flow control that a run is compared with.
const freeRows = 4

// Simulate runs the simulation c, and hands every row to out (nil: nobody), before it goes on with the next. An error
// of out ends the run. It does not block; it takes what it takes to compute.
func Simulate(c Config, out func(Epoch) error) (Result, error) {
	c.View = Simulation
	c, err := c.fill()
	if err != nil {
		return Result{}, err
	}
	res := Result{Config: c}
	if res.Unlimited, err = unlimited(c); err != nil {
		return res, err
	}
	s, err := newSim(c)
	if err != nil {
		return res, err
	}
	for i := range c.Epochs {
		row, err := s.row(i)
		if err != nil {
			return res, err
		}
		if res.Unlimited > 0 && row.Ticks > 0 {
			row.Throughput = float64(row.Requests) / float64(row.Ticks) / res.Unlimited
		}
		res.Rows = append(res.Rows, row)
		if out == nil {
			continue
		}
		if err := out(row); err != nil {
			return res, err
		}
	}
	res.sum(s)
	return res, nil
}

// sum fills in what is known at the end.
func (res *Result) sum(s *sim) {
	var requests uint64
	for i, r := range res.Rows {
		requests += r.Requests
		if r.Moved > 0 {
			res.Steady = i + 1
		}
		if r.Stalls > 0 {
			res.Smooth = i + 1
		}
	}
	if res.Unlimited > 0 {
		res.Throughput = float64(requests) / float64(s.now) / res.Unlimited
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		res.Pairs += len(n.links)
		res.Told = append(res.Told, n.told)
		for slot := range n.links {
			res.Largest = max(res.Largest, n.ledger.Peer(slot).Loan)
		}
		for _, slot := range n.targets {
			to := n.links[slot]
			loan := s.nodes[to.node].ledger.Peer(int(to.slot)).Loan
			if res.Flows++; res.Flows == 1 || loan < res.Least {
				res.Least = loan
			}
		}
	}
}

// unlimited is the throughput of the same run, without flow control, in its first epochs.
func unlimited(c Config) (float64, error) {
	c.terms.Mode = credit.NoFlow
	c.Epochs = min(c.Epochs, max(freeRows, c.Stay))
	s, err := newSim(c)
	if err != nil {
		return 0, err
	}
	var requests uint64
	for i := range c.Epochs {
		row, err := s.row(i)
		if err != nil {
			return 0, err
		}
		requests += row.Requests
	}
	return float64(requests) / float64(s.now), nil
}

// patience is how many times longer than without any waiting an epoch may take before the run counts as stuck.
const patience = 1000

// row simulates an epoch.
func (s *sim) row(i int) (Epoch, error) {
	if s.p.rotates && i > 0 && i%s.c.Stay == 0 {
		s.phase(i / s.c.Stay)
	}
	nominal := max(1, s.c.terms.Epoch*s.c.cost/rate)
	want := uint64(s.c.terms.Epoch * s.receivers)
	start, got := s.now, s.received
	s.flyingMax = 0
	for i := range s.nodes {
		s.flyingMax = max(s.flyingMax, s.nodes[i].flying)
	}
	for s.received-got < want || want == 0 && s.now-start < nominal {
		if err := s.tick(); err != nil {
			return Epoch{}, err
		}
		if err := s.sample(); err != nil {
			return Epoch{}, err
		}
		if s.now-start > patience*nominal {
			return Epoch{}, fmt.Errorf("%w: epoch %d: %d of %d requests in %d ticks", ErrInvariant, i, s.received-got, want,
				s.now-start)
		}
	}
	if err := s.checkAll(); err != nil {
		return Epoch{}, err
	}
	row := s.since()
	row.Epoch, row.Ticks, row.InFlight = i, s.now-start, s.flyingMax
	return row, nil
}

// showSimulation writes the epochs, and a summary below columns.
func (c Config) showSimulation(ctx context.Context, w io.Writer, asJSON bool) ([]bench.Row, error) {
	print := bench.Columns[Epoch](w, asJSON, nil)
	res, err := Simulate(c, func(e Epoch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return print(e)
	})
	if err == nil && !asJSON {
		err = res.summary(w)
	}
	return res.curves(), err
}

func (res *Result) summary(w io.Writer) error {
	c := &res.Config.terms
	_, err := fmt.Fprintf(w, `%s, %d ranks: %d credits a peer (%d to %d), bank %d, epochs of %d requests
no credit moved from epoch %d of %d on, no request waited from epoch %d on
throughput %.3f of what it is without flow control (%.0f requests a tick)
%d flows with loans of %d credits or more; the largest loan is %d
`, res.Config.Pattern, res.Config.Ranks, c.PerPeer, c.Min, c.Max, c.Bank, c.Epoch,
		res.Steady, res.Config.Epochs, res.Smooth, res.Throughput, res.Unlimited, res.Flows, res.Least, res.Largest)
	return err
}

// curves are a panel for each quantity.
func (res *Result) curves() (rows []bench.Row) {
	for _, q := range []struct {
		name, unit string
		of         func(Epoch) float64
	}{
		{"moved", "credits in an epoch", func(e Epoch) float64 { return float64(e.Moved) }},
		{"stalls", "requests in an epoch", func(e Epoch) float64 { return float64(e.Stalls) }},
		{"banked", "credits", func(e Epoch) float64 { return float64(e.Banked) }},
		{"gini of loans", "coefficient", func(e Epoch) float64 { return e.Gini }},
		{"throughput", "of unlimited", func(e Epoch) float64 { return e.Throughput }},
	} {
		panel := fmt.Sprintf("%s, by epoch (%s, %d ranks)", q.name, res.Config.Pattern, res.Config.Ranks)
		for _, e := range res.Rows {
			rows = append(rows, point(panel, bench.Golci, q.unit, "epoch", e.Epoch, q.of(e)))
		}
	}
	return rows
}
