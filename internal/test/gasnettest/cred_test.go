package gasnettest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// The test of credits of the Portals conduit: patterns whose partners rotate, or do not poll, on few credits and on
// many. Here the receive space has room for exactly the credits there are, so one that is spent twice is an overflow,
// which ends the test.

const (
	hCred      = 70
	credRecord = 1024
	credPhases = 6
)

// credPatterns say whom rank i of n sends to in a phase; -1: nobody.
var credPatterns = map[string]func(i, n, phase int) int{
	"chain": func(i, n, phase int) int { return (i + 1 + phase%(n-1)) % n },
	"pairs": func(i, n, phase int) int {
		if j := ((2*phase+1-i)%n + n) % n; j != i {
			return j
		}
		return -1
	},
	"oddpoll": func(i, n, phase int) int { // all who poll send to those who seldom do
		if i%2 == 1 {
			return -1
		}
		return (i + 1 + 2*(phase%(n/2))) % n
	},
}

// credTerms are those of a job of n ranks with so few credits a pair.
func credTerms(n, credits, bank int, mode credit.Mode) credit.Config {
	t := credit.Terms(n, credRecord)
	t.Mode, t.PerPeer, t.Bank, t.Max, t.Epoch = mode, credits, bank, max(t.Max, credits), 128
	t.Narrow = true
	return t
}

type credState struct {
	came atomic.Int64
	max  int
}

// TestCredits sweeps the credits of a pair from the least that work to more than the traffic needs.
func TestCredits(t *testing.T) {
	const n = 4
	sweep := []int{8, 24, 56, 104}
	if testing.Short() {
		sweep = []int{8, 56}
	}
	for name, target := range credPatterns {
		for _, credits := range sweep {
			for _, c := range []struct {
				kind string
				t    credit.Config
			}{
				{"static", credTerms(n, credits, 0, credit.Fixed)},
				{"dynamic", credTerms(n, credits, 0, credit.Dynamic)},
				{"bigbank", credTerms(n, credits, 1000, credit.Dynamic)},
			} {
				t.Run(fmt.Sprintf("%s/credits=%d/%s", name, credits, c.kind), func(t *testing.T) {
					credRun(t, c.t, n, name == "oddpoll", target)
				})
			}
		}
	}
}

func credRun(t *testing.T, terms credit.Config, n int, odd bool, target func(i, n, phase int) int) {
	const each = 400 / raceSlower
	net := network{name: "pool", make: overUDP(udptest.Job{Mode: seal.Trust, Credits: terms.Total(n)},
		conduit.Config{Loan: terms.Max, MaxRecord: credRecord})}
	begin := time.Now()
	spmd(t, net, n, options{credits: terms}, func(r *rank) *credState {
		s := &credState{max: r.e.MaxMedium()}
		r.handle(hCred, am.NoReply, func(_ *am.Token, args []uint64, payload []byte) {
			if len(payload) != int(args[0]) {
				r.bad("%d bytes, want %d", len(payload), args[0])
			}
			s.came.Add(1)
		})
		return s
	}, func(r *rank, s *credState) error {
		payload := make([]byte, s.max)
		want := int64(0)
		for phase := range credPhases {
			for i := range n {
				if target(i, n, phase) == r.id {
					want += each
				}
			}
			for k := range each {
				to := target(r.id, n, phase)
				if to < 0 {
					break
				}
				size := int(mix(r.j.seed^uint64(phase*each+k))%uint64(s.max)) + 1
				if err := r.e.RequestMedium(to, hCred, payload[:size], uint64(size)); err != nil {
					return err
				}
			}
			for odd && r.id%2 == 1 && s.came.Load() < want && !r.j.failed.Load() {
				time.Sleep(200 * time.Microsecond)
				r.e.Poll()
			}
			if err := r.until(func() bool { return s.came.Load() >= want }); err != nil {
				return err
			}
		}
		if err := r.barrier(); err != nil {
			return err
		}
		rep := r.e.Credits()
		stalls := 0
		for _, p := range rep.Peers {
			stalls += p.Borrowed.Stalls
		}
		t.Logf("rank %d: %d messages in %v; %d stalls of late, %d banked, %d granted, %d returned, %d revokes", r.id, want,
			time.Since(begin).Round(time.Millisecond), stalls, rep.Banked, rep.Stats.Granted, rep.Stats.Returned, rep.Stats.Revokes)
		if terms.Mode == credit.Fixed && rep.Stats.Granted+rep.Stats.Revokes != 0 {
			return fmt.Errorf("static loans have moved: %+v", rep.Stats)
		}
		return r.e.CheckCredits()
	})
}
