package report

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
)

const (
	statsEvery = 10 * time.Millisecond // between two looks at the credits
	statsShare = 50                    // and at least so many times what a look takes, which grows with the ranks
)

// creditLine is one line of a rank's statistics file. Counts are since the start.
type creditLine struct {
	Time     time.Time    `json:"time"`
	Rank     int          `json:"rank"`
	Epoch    uint64       `json:"epoch"`
	Mode     string       `json:"mode"`
	Banked   int          `json:"banked"`
	Granted  uint64       `json:"granted"`
	Returned uint64       `json:"returned"`
	Revokes  uint64       `json:"revokes"`
	Denied   uint64       `json:"denied"`
	Limited  uint64       `json:"limited"`
	Peers    []peerCredit `json:"peers"`
}

// peerCredit is a peer whose credits are not what they were at the start.
type peerCredit struct {
	Peer     int `json:"peer"`
	Lent     int `json:"lent"`     // to the peer
	Borrowed int `json:"borrowed"` // of the peer
	InUse    int `json:"in_use"`   // of those borrowed
	Stalls   int `json:"stalls"`   // requests to the peer that had to wait of late: a quarter is left after an epoch
	Revoked  int `json:"revoked"`  // given back to the peer of late, likewise
}

// CreditStats writes a rank's credits to a file while they change. A nil one does nothing.
type CreditStats struct {
	// Fixed.
	rank   int
	terms  credit.Config
	report func() am.CreditReport
	tell   func(error) // gets the first error, the only one
	stop   chan struct{}
	ended  chan struct{}

	// Owned by the goroutine of run.
	file *os.File
	last creditLine // nothing was written while its Time is zero
}

// StartCreditStats begins the file of credits at path for a rank of job, unless path is empty.
func StartCreditStats(path string, job *boot.Job, ep *am.Endpoint) *CreditStats {
	if path == "" {
		return nil
	}
	s := &CreditStats{
		rank: job.Rank, terms: ep.Terms(), report: ep.Credits, stop: make(chan struct{}), ended: make(chan struct{}),
		tell: func(err error) {
			fmt.Fprintf(os.Stderr, "golci: rank %d of %d: credit statistics end: %v\n", job.Rank-job.First, job.Mates, err)
		},
	}
	var err error
	if s.file, err = os.Create(settings.RankFile(path, job.Rank, job.Size)); err != nil {
		s.tell(err)
		return nil
	}
	go s.runStats()
	return s
}

// Close writes the last line and waits until the file is closed.
func (s *CreditStats) Close() {
	if s != nil {
		close(s.stop)
		<-s.ended
	}
}

func (s *CreditStats) runStats() {
	defer close(s.ended)
	err := s.watchCredits()
	if e := s.file.Close(); err == nil {
		err = e
	}
	if err != nil {
		s.tell(err)
	}
}

// watchCredits writes a line whenever it finds that credits have changed, and one at the end.
func (s *CreditStats) watchCredits() error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-s.stop:
			return s.writeLine(s.lookAtCredits())
		case <-pause.C:
		}
		start := time.Now()
		if now := s.lookAtCredits(); !s.last.same(&now) {
			if err := s.writeLine(now); err != nil {
				return err
			}
		}
		pause.Reset(max(statsEvery, statsShare*time.Since(start)))
	}
}

func (s *CreditStats) lookAtCredits() creditLine {
	r := s.report()
	l := creditLine{
		Time: time.Now(), Rank: s.rank, Epoch: r.Stats.Epochs, Mode: r.Mode.String(), Banked: r.Banked,
		Granted: r.Stats.Granted, Returned: r.Stats.Returned, Revokes: r.Stats.Revokes,
		Denied: r.Stats.Denied, Limited: r.Stats.Limited, Peers: []peerCredit{},
	}
	for i, p := range r.Peers {
		b := p.Borrowed
		if i == s.rank || p.Lent.Loan == s.terms.PerPeer && b.Loan == s.terms.PerPeer && b.Stalls == 0 && b.Revoked == 0 {
			continue
		}
		l.Peers = append(l.Peers, peerCredit{i, p.Lent.Loan, b.Loan, b.InUse, b.Stalls, b.Revoked})
	}
	return l
}

// same tells whether no credit has moved between l and m, and no request has had to wait. Use and epochs always change.
func (l *creditLine) same(m *creditLine) bool {
	return !l.Time.IsZero() && l.Banked == m.Banked && l.Granted == m.Granted && l.Returned == m.Returned &&
		l.Revokes == m.Revokes && l.Denied == m.Denied && l.Limited == m.Limited &&
		slices.EqualFunc(l.Peers, m.Peers, func(a, b peerCredit) bool {
			a.InUse = b.InUse
			return a == b
		})
}

func (s *CreditStats) writeLine(l creditLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	s.last = l
	_, err = s.file.Write(append(text, '\n'))
	return err
}
