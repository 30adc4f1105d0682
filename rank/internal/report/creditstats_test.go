package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/test/settingstest"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/rank/internal/report"
	"github.com/golci/golci/rank/internal/terms"
)

// with is a rank.Config with settings: pairs of a variable and its value.
func with(pairs ...string) rank.Config {
	c := rank.Config{Settings: make(map[string]string)}
	for i := 0; i < len(pairs); i += 2 {
		c.Settings[pairs[i]] = pairs[i+1]
	}
	return c
}

// run runs f as n ranks.
func run(t *testing.T, n int, cfg rank.Config, f func(r *rank.Rank) error) {
	t.Helper()
	team, err := rank.Local(n, cfg)
	if err == nil {
		err = team.Run(f)
	}
	if err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
}

// linesOf reads a statistics file.
func linesOf(t *testing.T, path string) (lines []report.CreditLine) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var l report.CreditLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: line %q: %v", path, line, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// toRankZero has all others send rank 0 n messages of 800 bytes each.
func toRankZero(t *testing.T, n int, cfg rank.Config) {
	t.Helper()
	const take = 1
	var came atomic.Int64
	cfg.Attach = func(r *rank.Rank) error {
		return r.Endpoint().Register(take, am.Spec{
			Name: "take", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { came.Add(1) },
		})
	}
	run(t, 3, cfg, func(r *rank.Rank) error {
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
func dynamicStats(path, over string) rank.Config {
	cfg := with(settings.Conduit.Env(), over, settings.FlowControl.Env(), "dynamic", settings.Eager.Env(), "1000",
		settings.Loan.Env(), "6", settings.Trace.Env(), "credits="+path)
	cfg.Tuning = rank.Tuning{Bank: 60, MaxLoan: 100, Epoch: 64}
	return cfg
}

func TestCreditStatsOverTime(t *testing.T) {
	for _, over := range []string{"udp", "local"} {
		t.Run(over, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "credits.%r.json")
			toRankZero(t, 3000, dynamicStats(path, over))
			cfg := dynamicStats(path, over)
			o := terms.Options{
				Tuning: cfg.Tuning,
				Values: settingstest.Parse(settings.Conduit.Env(), over, settings.FlowControl.Env(), "dynamic",
					settings.Eager.Env(), "1000", settings.Loan.Env(), "6"),
			}
			borrowed := 0
			for n := range 3 {
				lines := linesOf(t, settings.RankFile(path, n, 3))
				checkCreditLines(t, n, o.Credits(3).Bank, lines)
				if n > 0 {
					borrowed = max(borrowed, mostOf(lines, func(p report.PeerCredit) int { return p.Borrowed }))
					continue
				}
				last := lines[len(lines)-1]
				if last.Granted == 0 || last.Epoch == 0 || mostOf(lines, func(p report.PeerCredit) int { return p.Lent }) <= 6 {
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
func checkCreditLines(t *testing.T, rank, banked int, lines []report.CreditLine) {
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
		if i > 0 && i < len(lines)-1 && lines[i-1].Same(&l) {
			t.Errorf("rank %d: line %d says what the one before does: %+v", rank, i, l)
		}
	}
}

// mostOf gives the largest value that any line has for a peer.
func mostOf(lines []report.CreditLine, value func(p report.PeerCredit) int) (most int) {
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
	run(t, 2, with(settings.Trace.Env(), "credits="+path, settings.Conduit.Env(), "local",
		settings.FlowControl.Env(), "static"), func(*rank.Rank) error { return nil })
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
