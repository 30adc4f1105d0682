//go:build unix

package launch

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/scenario"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPolicyScenarios: an input is an event, below it stands what the launcher does then.
func TestPolicyScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(line string) []string {
		var p *policy
		return func(line string) (did []string) {
			orders := feed(t, &p, strings.Fields(line))
			for _, o := range orders {
				did = append(did, describe(o))
			}
			if p.isDone() {
				did = append(did, fmt.Sprintf("done, code %d", p.code))
			}
			return did
		}
	})
}

func feed(t *testing.T, p **policy, word []string) []order {
	switch word[0] {
	case "ranks":
		*p = newPolicy(number(t, word[1]), time.Second, time.Minute)
		return nil
	case "survivors":
		*p = newPolicy(number(t, word[1]), time.Second, time.Minute)
		(*p).survive = true
		return nil
	case "hosts":
		*p = newPolicy(len(word)-1, time.Second, time.Minute)
		(*p).name = func(rank int) string { return fmt.Sprintf("rank %d on %s", rank, word[rank+1]) }
		return nil
	case "lost":
		text, ranks := lossOf(word[1:])
		return (*p).machineLost(text, 1, ranks)
	case "exit":
		return (*p).rankExited(number(t, word[1]), readStatus(t, word[2:]))
	case "fail":
		return (*p).rankFailed(number(t, word[1]), number(t, word[2]), strings.Join(word[3:], " "), true)
	case "barrier":
		return (*p).rankFailed(number(t, word[1]), 1, strings.Join(word[2:], " "), false)
	case "follows":
		return (*p).rankFollows(number(t, word[1]), number(t, word[2]))
	case "leave":
		return (*p).rankLeaves(number(t, word[1]), strings.Join(word[2:], " "))
	case "report":
		return (*p).rankReports(number(t, word[1]))
	case "signal":
		return (*p).signalArrived(unix.SignalNum(word[1]))
	case "timeout":
		return (*p).timedOut(time.Minute)
	case "alarm":
		return (*p).alarmRang()
	}
	t.Fatalf("line %q", word)
	return nil
}

// lossOf reads ranks, and behind them the reason.
func lossOf(words []string) (text string, ranks []int) {
	for i, w := range words {
		r, err := strconv.Atoi(w)
		if err != nil {
			return strings.Join(words[i:], " "), ranks
		}
		ranks = append(ranks, r)
	}
	return "", ranks
}

func readStatus(t *testing.T, words []string) Status {
	st := Status{joined: true, left: true}
	for _, w := range words {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "code":
			st.Code = number(t, value)
		case "signal":
			st.Signal = unix.SignalNum(value)
		case "core":
			st.Core = true
		case "own":
			st.Own = true
		case "stranger":
			st.joined, st.left = false, false
		case "unfinished":
			st.left = false
		default:
			t.Fatalf("status %q", w)
		}
	}
	return st
}

func describe(o order) string {
	switch o.kind {
	case orderSay:
		return "say " + o.text
	case orderKill:
		return "kill " + unix.SignalName(o.signal)
	case orderStop:
		return "stop"
	}
	return "alarm " + o.after.String()
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSignalName(t *testing.T) {
	for sig, want := range map[syscall.Signal]string{9: "signal 9 (SIGKILL)", 15: "signal 15 (SIGTERM)", 200: "signal 200"} {
		if got := SignalName(sig); got != want {
			t.Errorf("%d: %q", sig, got)
		}
	}
}
