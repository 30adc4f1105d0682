package far

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/golci/golci/internal/settings"
)

type greeting struct {
	Protocol int
	Cores    int
	PID      int
}

// task is the task of a helper. Ranks are First .. First+Count-1 of a job of Size.
type task struct {
	First, Count, Size int
	Argv               []string // Argv[0] is "" for the copy that came before
	Base               string   // name of that copy, for process lists
	Env                []string // on top of the helper's own
	Dir                string   // working directory, if there is such a one
	Bind               string
	JobID              string
	Here               bool // this is the head's own machine
	Parts              bool // the ranks are to record a timeline, which the head wants
}

// exitNote is how a rank's process has ended. Signals have different numbers on different systems.
type exitNote struct {
	Code   int
	Signal string
	Core   bool
}

// encode makes JSON of one of the types above, which cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("far: %T: %v", v, err)) // a type above has got a field that JSON cannot carry
	}
	return b
}

// passedOn are the prefixes of the variables that ranks on other machines get from the head's environment, beside those
// of -env. They are the project's settings and those of the Go runtime. The head's own place in a job is none of them.
var passedOn = []string{"GOLCI_", "GOMAXPROCS=", "GODEBUG=", "GOGC=", "GOMEMLIMIT=", "GOTRACEBACK=", "GORACE="}

func passedEnv(env []string) (out []string) {
	for _, kv := range env {
		passed := slices.ContainsFunc(passedOn, func(p string) bool { return strings.HasPrefix(kv, p) })
		if passed && !settings.IsPlace(kv) {
			out = append(out, kv)
		}
	}
	return out
}
