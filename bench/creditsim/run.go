package creditsim

import (
	"fmt"

	"github.com/golci/golci/internal/transport/credit"
)

// Row is what happened in one epoch. In an epoch each rank that gets messages receives as many requests as an epoch
// has. If no rank sends, an epoch is the time that this would take.
type Row struct {
	Epoch      int     `json:"epoch"`
	Moved      uint64  `json:"moved"`        // credits lent out of banks and given back to them
	Stalls     uint64  `json:"stalls"`       // requests that had to wait
	Banked     int     `json:"banked"`       // credits in all banks, at the end
	Gini       float64 `json:"gini"`         // of the loans of all pairs, at the end; 0: all are equal
	Throughput float64 `json:"throughput"`   // requests in a tick, relative to no flow control; 0 where nobody sends
	InFlight   int     `json:"inflight_max"` // the most credits that were on their way to one rank, and not received, at once
	Revokes    uint64  `json:"revokes"`
	Requests   uint64  `json:"requests"`
	Ticks      int     `json:"ticks"`
}

// Result of a run.
type Result struct {
	Config     Config
	Rows       []Row
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

// Run simulates c and hands every row to out (nil: nobody), before it goes on with the next. An error of out ends
// the run. Run does not block; it takes what it takes to compute.
func Run(c Config, out func(Row) error) (Result, error) {
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
	c.Credits.Mode = credit.NoFlow
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
func (s *sim) row(i int) (Row, error) {
	if s.p.rotates && i > 0 && i%s.c.Stay == 0 {
		s.phase(i / s.c.Stay)
	}
	nominal := max(1, s.c.Credits.Epoch*s.c.Cost/s.c.Rate)
	want := uint64(s.c.Credits.Epoch * s.receivers)
	start, got := s.now, s.received
	s.flyingMax = 0
	for i := range s.nodes {
		s.flyingMax = max(s.flyingMax, s.nodes[i].flying)
	}
	for s.received-got < want || want == 0 && s.now-start < nominal {
		if err := s.tick(); err != nil {
			return Row{}, err
		}
		if err := s.sample(); err != nil {
			return Row{}, err
		}
		if s.now-start > patience*nominal {
			return Row{}, fmt.Errorf("%w: epoch %d: %d of %d requests in %d ticks", ErrInvariant, i, s.received-got, want, s.now-start)
		}
	}
	if err := s.checkAll(); err != nil {
		return Row{}, err
	}
	row := s.since()
	row.Epoch, row.Ticks, row.InFlight = i, s.now-start, s.flyingMax
	return row, nil
}
