package exit

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/scenario"
)

// TestScenarios understands
//
//	rank R of N        a new machine: settles 50ms, limit 5s
//	exit C, abort C    calls of the program
//	told F C R         news from rank F: code C of rank R, -1 for none
//	round F K C R      its message of round K
//	abort F C R        its abort
//	died F             rank F is gone
//	tick D             time goes on by D
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(line string) []string {
		w := world{now: epoch}
		return func(line string) (did []string) {
			for _, a := range w.feed(t, line) {
				did = append(did, describe(a))
			}
			return did
		}
	})
}

type world struct {
	m   *Machine
	now time.Time
}

func (w *world) feed(t *testing.T, line string) []Action {
	var a, b, c, d int
	var span string
	is := func(format string, args ...any) bool {
		n, err := fmt.Sscanf(line, format+"\n", args...)
		return err == nil && n == len(args)
	}
	switch {
	case is("rank %d of %d", &a, &b):
		var err error
		if w.m, err = New(Config{Rank: a, Size: b, Settle: 50 * time.Millisecond, Limit: 5 * time.Second}); err != nil {
			t.Fatal(err)
		}
		return nil
	case is("exit %d", &a):
		return w.m.Exit(w.now, a)
	case is("abort %d %d %d", &a, &b, &c):
		return w.m.Take(w.now, a, Message{Abort, 0, Verdict{uint8(b), c}})
	case is("abort %d", &a):
		return w.m.Abort(w.now, a)
	case is("told %d %d %d", &a, &b, &c):
		return w.m.Take(w.now, a, Message{Told, 0, Verdict{uint8(b), c}})
	case is("round %d %d %d %d", &a, &b, &c, &d):
		return w.m.Take(w.now, a, Message{Round, uint8(b), Verdict{uint8(c), d}})
	case is("died %d", &a):
		return w.m.Died(a)
	case is("tick %s", &span):
		d, err := time.ParseDuration(span)
		if err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(d)
		return w.m.Tick(w.now)
	}
	t.Fatalf("line %q", line)
	return nil
}

func describe(a Action) string {
	v := a.Verdict
	switch a.Kind {
	case Send:
		v = a.Msg.Verdict
		name := map[Kind]string{Told: "told", Round: fmt.Sprint("round ", a.Msg.Round), Abort: "abort"}[a.Msg.Kind]
		return fmt.Sprintf("to %d: %s, code %d of %d", a.To, name, v.Code, v.Rank)
	case GiveUp:
		return fmt.Sprintf("give up with code %d of %d, waiting for %d", v.Code, v.Rank, a.To)
	}
	if a.Aborted {
		return fmt.Sprintf("aborted with code %d of %d", v.Code, v.Rank)
	}
	return fmt.Sprintf("finish with code %d of %d", v.Code, v.Rank)
}
