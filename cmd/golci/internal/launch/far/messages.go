package far

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/observe/settings"
)

type greeting struct {
	Protocol int
	Cores    int
	PID      int
}

// task is the task of a helper. Its ranks are those from First on of a job of Size. It travels as a gob: names of
// files, arguments and variables are bytes, and JSON would replace those that are not UTF-8.
type task struct {
	First, Size int
	Commands    []command
	Env         []string // on top of the helper's own
	Dir         string   // working directory of commands that have none, if there is such a one
	Bind        string
	JobID       string
	Here        bool // this is the head's own machine
	Parts       bool // the ranks are to record a timeline, which the head wants
}

// rankCount is the number of the ranks; 0 if it is not possible.
func (t *task) rankCount() (n int) {
	for _, c := range t.Commands {
		if c.N < 1 || c.N > launch.MaxRanks || len(c.Argv) == 0 {
			return 0
		}
		n += c.N
	}
	if t.First < 0 || t.Size > launch.MaxRanks || n > t.Size-t.First {
		return 0
	}
	return n
}

// exitNote is how a rank's process has ended. Signals have different numbers on different systems.
type exitNote struct {
	Code   int
	Signal string
	Core   bool
	Own    bool
}

// maxTask bounds the task as it travels: many times what the kernel lets a process have as arguments and environment.
const maxTask = 64 << 20

// sendTask sends t in pieces. It does not wait for the other side: nothing else is under way yet.
func sendTask(t *task, send func(last int, piece []byte)) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(t); err != nil {
		return err
	}
	if b.Len() > maxTask {
		return fmt.Errorf("program, arguments and variables take %d bytes, and a machine is sent %d at most", b.Len(), maxTask)
	}
	for {
		piece := b.Next(maxPayload)
		if b.Len() == 0 {
			send(1, piece)
			return nil
		}
		send(0, piece)
	}
}

// taskParts puts the pieces of a task together.
type taskParts struct{ b bytes.Buffer }

// addPiece returns the task once the last piece has come, and else nil.
func (p *taskParts) addPiece(last bool, piece []byte) (*task, error) {
	if p.b.Len()+len(piece) > maxTask {
		return nil, fmt.Errorf("%w: a task of more than %d bytes", errFrame, maxTask)
	}
	p.b.Write(piece)
	if !last {
		return nil, nil
	}
	t := &task{}
	if err := gob.NewDecoder(&p.b).Decode(t); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	return t, nil
}

// encodeJSON makes JSON of one of the types above, which cannot fail.
func encodeJSON(v any) []byte {
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
