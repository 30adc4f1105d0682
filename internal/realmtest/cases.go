package realmtest

import (
	"context"
	"fmt"
	"io"

	"github.com/golci/golci/realm"
)

// Case is a part of the conformance program: a plan with some kinds of operations, or with all.
type Case struct {
	Name  string
	ops   int
	kinds []kind
}

// Cases are the parts of the conformance program.
var Cases = []Case{
	{"events", 120, []kind{user, merge}},
	{"poison", 120, []kind{user, merge, cancel, failTask, merge}},
	{"tasks", 100, []kind{addTask, addTask, longTask, failTask}},
	{"copies", 60, []kind{fillData, copyData, gatherData, scatterData}},
	{"reductions", 60, []kind{foldData, listData, fillData}},
	{"barriers", 60, []kind{phase, phase, user, cancel}},
	{"reservations", 80, []kind{hold, hold, share, cancel}},
	{"collective", 20, []kind{everywhere, hold, phase}},
	{"all", 200, nil},
}

// caseSeed is the seed of the first case.
const caseSeed = 20

// plan is the plan of a case for n ranks. Cases have even seeds and odd ones, so that operations are called in the order
// of the plan and in others.
func (c Case) plan(i, n int) *Plan {
	return New(caseSeed+uint64(i), Config{Ranks: n, Ops: c.ops, kinds: c.kinds})
}

// Conform executes all cases as the rank of rt, together with all others. Rank 0 writes what each has ended with.
func Conform(ctx context.Context, rt *realm.Runtime, w io.Writer) error {
	for i, c := range Cases {
		text, err := Execute(ctx, rt, c.plan(i, rt.Size()), int64(i))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if rt.Rank() == 0 {
			if _, err := fmt.Fprintf(w, "== %s\n%s", c.Name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// Expected is what Conform writes in a job of n ranks, by the serial execution.
func Expected(n int) (text string) {
	for i, c := range Cases {
		text += fmt.Sprintf("== %s\n%s", c.Name, c.plan(i, n).Text())
	}
	return text
}
