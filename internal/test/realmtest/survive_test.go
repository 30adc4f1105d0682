package realmtest

import (
	"errors"
	"testing"

	"github.com/golci/golci/realm"
)

// TestExplained: which ends of an operation the death of a rank or the plan explains.
func TestExplained(t *testing.T) {
	const victim = 1
	forgotten := &realm.PoisonError{Rank: -1, Cause: "forgotten"}
	planned := &realm.PoisonError{Rank: 2, Cause: "cancelled as planned"}
	dead := &realm.PoisonError{Rank: victim, Cause: "it has died"}
	for name, c := range map[string]struct {
		o    op
		errs [2]error // of the operation that it depends on, and its own
		want bool
	}{
		"done":                            {op{}, [2]error{}, true},
		"done, planned otherwise":         {op{causes: []string{"as planned"}}, [2]error{}, false},
		"done after one that was not":     {op{deps: []int{0}}, [2]error{dead}, false},
		"died":                            {op{}, [2]error{nil, dead}, true},
		"as planned":                      {op{causes: []string{"as planned"}}, [2]error{nil, planned}, true},
		"as planned, the cause forgotten": {op{causes: []string{"as planned"}}, [2]error{nil, forgotten}, true},
		"not planned":                     {op{}, [2]error{nil, planned}, false},
		"another cause":                   {op{causes: []string{"else"}}, [2]error{nil, planned}, false},
		"forgotten, without reason":       {op{}, [2]error{nil, forgotten}, false},
		"forgotten, by what it waits for": {op{deps: []int{0}}, [2]error{dead, forgotten}, true},
		"no poison":                       {op{causes: []string{"else"}}, [2]error{nil, errors.New("else")}, false},
	} {
		j := &job{plan: &Plan{ops: []op{{}, c.o}}}
		if err := j.explained(c.errs[:], 1, victim); (err == nil) != c.want {
			t.Errorf("%s: %v, explained: %v", name, err, c.want)
		}
	}
}
