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

// Conformance is the plans of the cases for n ranks. Cases have even seeds and odd ones, so that operations are called
// in the order of the plan and in others.
func Conformance(n int) (plans []*Plan) {
	for i, c := range Cases {
		p := New(caseSeed+uint64(i), Config{Ranks: n, Ops: c.ops, kinds: c.kinds})
		p.name = c.Name
		plans = append(plans, p)
	}
	return plans
}

// Random is plans of all kinds of operations for n ranks, with seeds from seed on.
func Random(seed uint64, jobs, n int) (plans []*Plan) {
	for i := range uint64(jobs) {
		p := New(seed+i, Config{Ranks: n, Ops: 150})
		p.name = fmt.Sprintf("seed %d", seed+i)
		plans = append(plans, p)
	}
	return plans
}

// ExecuteAll executes plans one after the other as the rank of rt, together with all others. Rank 0 writes what each
// has ended with. A runtime does that once.
func ExecuteAll(ctx context.Context, rt *realm.Runtime, plans []*Plan, w io.Writer) error {
	for i, p := range plans {
		text, err := Execute(ctx, rt, p, int64(i))
		if err != nil {
			return fmt.Errorf("%s of %d ranks: %w", p.name, p.Ranks, err)
		}
		if rt.Rank() == 0 {
			if _, err := fmt.Fprintf(w, "== %s\n%s", p.name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// Expected is what ExecuteAll writes, by the serial execution.
func Expected(plans []*Plan) (text string) {
	for _, p := range plans {
		text += fmt.Sprintf("== %s\n%s", p.name, p.Text())
	}
	return text
}
