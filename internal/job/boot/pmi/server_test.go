package pmi

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/scenario"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestServerScenarios: "size N" begins a job, "R> line" is a line from rank R, and "gone R" the end of rank R; below
// them stands what the server does then.
func TestServerScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(line string) []string {
		var s *Server
		var noted, followed []string
		failing := func(rank, code int, text string, _ bool) {
			noted = append(noted, describe(Action{Kind: Fail, Rank: rank, Code: code, Text: text}))
		}
		return func(line string) (did []string) {
			for _, a := range feed(t, &s, line, &followed, failing) {
				did = append(did, describe(a))
				if a.Kind == Fail {
					if len(noted) == 0 || noted[0] != describe(a) {
						t.Errorf("%s: %s was not noted, but %q", line, describe(a), noted)
						continue
					}
					noted = noted[1:]
				}
			}
			if len(noted) > 0 {
				t.Errorf("%s: %q was noted for nothing", line, noted)
			}
			did, followed = append(did, followed...), nil
			return did
		}
	})
}

func feed(t *testing.T, s **Server, line string, followed *[]string, failing func(rank, code int, text string, aborted bool)) []Action {
	who, text, isLine := strings.Cut(line, "> ")
	switch {
	case strings.HasPrefix(line, "size "):
		var err error
		if *s, err = NewServer(Config{
			Size: number(t, line[5:]), KVSName: "kvs", Preset: map[string]string{KeyMapping: "(vector,(0,1,3))"}, Failing: failing,
			Follows: func(rank, of int) { *followed = append(*followed, fmt.Sprintf("rank %d follows %d", rank, of)) },
		}); err != nil {
			t.Fatal(err)
		}
		return nil
	case strings.HasPrefix(line, "gone "):
		return (*s).Gone(number(t, line[5:]))
	case isLine:
		return (*s).Handle(number(t, who), []byte(text))
	}
	t.Fatalf("line %q", line)
	return nil
}

func describe(a Action) string {
	switch a.Kind {
	case Send:
		line, err := a.Msg.Append(nil) // with its values, which String does not show
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%d< %s", a.Rank, line[:len(line)-1])
	case Fail:
		return fmt.Sprintf("fail rank=%d code=%d: %s", a.Rank, a.Code, a.Text)
	case Leave:
		return fmt.Sprintf("leave rank=%d code=%d: %s", a.Rank, a.Code, a.Text)
	}
	return fmt.Sprintf("hang rank=%d: %s", a.Rank, a.Text)
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestServerConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: 0, KVSName: "k"},
		{Size: 1},
		{Size: 1, KVSName: "a b"},
		{Size: 1, KVSName: strings.Repeat("k", MaxName+1)},
	} {
		if _, err := NewServer(c); err == nil {
			t.Errorf("%+v accepted", c)
		}
	}
}
