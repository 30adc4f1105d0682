// Package explore runs a small concurrent world through every order of its steps. It serves the tests of protocols: a
// world has the state of a few ranks and the messages between them, and its steps are calls of users and deliveries.
package explore

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
)

var everything = flag.Bool("explore.all", false, "explore all programs, which takes some minutes")

// Sample chooses one of n long explorations in a row, another one in each run, or all with the flag -explore.all.
type Sample struct{ n, chosen int }

// NewSample makes one. The choice is by chance.
func NewSample(n int) Sample { return Sample{n, rand.IntN(n)} }

// Has reports whether exploration i is chosen.
func (s Sample) Has(i int) bool { return *everything || i%s.n == s.chosen }

// String tells how to have what was chosen once more.
func (s Sample) String() string {
	return fmt.Sprintf("one of %d in a row is explored in a run, this time number %d; -explore.all has all", s.n, s.chosen)
}

// World is one state of a system.
type World interface {
	// Steps names the steps that are possible now. None: the world has come to rest.
	Steps() []string
	// Do does the step with that index of Steps.
	Do(step int)
	// Clone is a copy that shares nothing that changes.
	Clone() World
	// Key is equal for two states exactly if the same things can happen from them on.
	Key() string
	// Check tells what must never be, and is called in each state; rest says that no step is left.
	Check(rest bool) error
}

// Result is what an exploration has seen.
type Result struct {
	States int // different ones
	Rests  int // states without a step
}

// Error is a state that must not be, with the steps that lead to it from the first world.
type Error struct {
	Steps []string
	Err   error
}

// Error names the steps and what is wrong.
func (e *Error) Error() string {
	return fmt.Sprintf("after %s: %v", strings.Join(e.Steps, "; "), e.Err)
}

// Unwrap is what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// All visits every state that w leads to, each once, and at most that many. It returns the first *Error, or an error
// when there are more states. w is not changed.
func All(w World, most int) (Result, error) {
	x := explorer{seen: make(map[string]bool), most: most}
	err := x.visit(w.Clone())
	return x.Result, err
}

type explorer struct {
	Result
	seen map[string]bool
	path []string
	most int
}

func (x *explorer) visit(w World) error {
	key := w.Key()
	if x.seen[key] {
		return nil
	}
	if x.States == x.most {
		return fmt.Errorf("more than %d states", x.most)
	}
	x.seen[key] = true
	x.States++
	steps := w.Steps()
	if err := w.Check(len(steps) == 0); err != nil {
		return &Error{append([]string(nil), x.path...), err}
	}
	if len(steps) == 0 {
		x.Rests++
		return nil
	}
	for i, name := range steps {
		next := w.Clone()
		next.Do(i)
		x.path = append(x.path, name)
		if err := x.visit(next); err != nil {
			return err
		}
		x.path = x.path[:len(x.path)-1]
	}
	return nil
}
