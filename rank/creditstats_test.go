package rank

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
)

// linesOf reads a statistics file.
func linesOf(t *testing.T, path string) (lines []creditLine) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var l creditLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: line %q: %v", path, line, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// toRankZero has all others send rank 0 n messages of 800 bytes each.
func toRankZero(t *testing.T, n int, cfg Config) {
	t.Helper()
	const take = 1
	var came atomic.Int64
	cfg.Attach = func(r *Rank) error {
		return r.Endpoint().Register(take, am.Spec{
			Name: "take", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { came.Add(1) },
		})
	}
	must(t, 3, cfg, func(r *Rank) error {
		if r.Rank() == 0 {
			return r.BlockUntil(func() bool { return came.Load() == int64(n*(r.Size()-1)) })
		}
		for range n {
			if err := r.Endpoint().RequestMedium(0, take, make([]byte, 800)); err != nil {
				return err
			}
		}
		return nil
	})
}

// dynamicStats are the terms of a small job whose loans grow; over says with which conduit.
func dynamicStats(path, over string) Config {
	cfg := with(settings.Conduit.Env(), over, settings.FlowControl.Env(), "dynamic", settings.Eager.Env(), "1000",
		settings.Loan.Env(), "6", settings.Trace.Env(), "credits="+path)
	cfg.Tuning = Tuning{Bank: 60, MaxLoan: 100, Epoch: 64}
	return cfg
}

func TestCreditStatsOverTime(t *testing.T) {
	for _, over := range []string{"udp", "local"} {
		t.Run(over, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "credits.%r.json")
			toRankZero(t, 3000, dynamicStats(path, over))
			o, err := dynamicStats(path, over).readSettings()
			if err != nil {
				t.Fatal(err)
			}
			borrowed := 0
			for rank := range 3 {
				lines := linesOf(t, settings.RankFile(path, rank, 3))
				checkCreditLines(t, rank, o.terms.Credits(3).Bank, lines)
				if rank > 0 {
					borrowed = max(borrowed, mostOf(lines, func(p peerCredit) int { return p.Borrowed }))
					continue
				}
				last := lines[len(lines)-1]
				if last.Granted == 0 || last.Epoch == 0 || mostOf(lines, func(p peerCredit) int { return p.Lent }) <= 6 {
					t.Errorf("rank 0 has lent nothing: %+v", last)
				}
			}
			if borrowed <= 6 {
				t.Errorf("the senders have borrowed %d credits of a peer at most", borrowed)
			}
		})
	}
}

// checkCreditLines looks for what must hold of the lines of one rank of three with 6 credits lent to each and so many
// banked.
func checkCreditLines(t *testing.T, rank, banked int, lines []creditLine) {
	t.Helper()
	for i, l := range lines {
		if l.Rank != rank || l.Mode != "dynamic" || l.Time.IsZero() || i > 0 && l.Time.Before(lines[i-1].Time) {
			t.Errorf("rank %d, line %d: %+v", rank, i, l)
		}
		lent := 2 * 6
		for _, p := range l.Peers {
			lent += p.Lent - 6
		}
		if lent+l.Banked != 2*6+banked || banked-l.Banked != int(l.Granted)-int(l.Returned) {
			t.Errorf("rank %d, line %d: lent %d, banked %d of %d; %+v", rank, i, lent, l.Banked, 2*6+banked, l)
		}
		if i > 0 && i < len(lines)-1 && lines[i-1].same(&l) {
			t.Errorf("rank %d: line %d says what the one before does: %+v", rank, i, l)
		}
	}
}

// mostOf gives the largest value that any line has for a peer.
func mostOf(lines []creditLine, value func(p peerCredit) int) (most int) {
	for _, l := range lines {
		for _, p := range l.Peers {
			most = max(most, value(p))
		}
	}
	return most
}

// TestCreditStatsOfAnIdleJob: where nothing moves there is the first line and the last, and no peer in them.
func TestCreditStatsOfAnIdleJob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credits")
	must(t, 2, with(settings.Trace.Env(), "credits="+path, settings.Conduit.Env(), "local",
		settings.FlowControl.Env(), "static"), func(*Rank) error { return nil })
	for rank := range 2 {
		lines := linesOf(t, fmt.Sprint(path, ".", rank))
		if n := len(lines); n < 1 || n > 2 || len(lines[n-1].Peers) != 0 || lines[n-1].Mode != "static" {
			t.Errorf("rank %d: %+v", rank, lines)
		}
	}
}

// TestCreditStatsNeedAFile: a job runs on without its statistics.
func TestCreditStatsNeedAFile(t *testing.T) {
	toRankZero(t, 10, dynamicStats(filepath.Join(t.TempDir(), "nowhere", "%r"), "local"))
}

// TestCreditStatsTellOnce: a file that takes no more is told of once, and ends nothing else.
func TestCreditStatsTellOnce(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var told []error
	s := &creditStats{
		terms: credit.Config{PerPeer: 6}, stop: make(chan struct{}), ended: make(chan struct{}), file: f,
		report: func() am.CreditReport { return am.CreditReport{Peers: make([]am.PeerCredit, 2)} },
		tell:   func(err error) { told = append(told, err) },
	}
	s.runStats() // ends by itself
	s.closeStats()
	if len(told) != 1 || !errors.Is(told[0], os.ErrClosed) {
		t.Errorf("told %v", told)
	}
}
