package jobtest

import (
	"context"
	"fmt"
	"regexp"
	"syscall"
	"testing"

	"github.com/golci/golci/realm"
)

const circleRole = "circle"

var circleTask = realm.Register("circle", func(*realm.Ctx, struct{}) error { return nil })

// circle has a task of rank 1 wait for an event that rank 0 triggers after the task.
func circle(ctx context.Context, rt *realm.Runtime) error {
	if rt.Rank() != 0 {
		return nil
	}
	u := rt.NewUserEvent()
	e := realm.Spawn(rt, realm.ProcessorOf(1), circleTask, struct{}{}, realm.After(u.Event()))
	if err := u.Trigger(e); err != nil {
		return err
	}
	for {
		found, _, err := rt.Deadlocks(ctx)
		if err != nil {
			return err
		}
		if len(found) == 1 {
			fmt.Println("circle")
			return rt.Wait(ctx, e)
		}
	}
}

// TestQuitNamesCircle: the reports of ranks that hang name the circle, though no rank has all of it.
func TestQuitNamesCircle(t *testing.T) {
	t.Parallel()
	j := golci(t, ranks(2, circleRole)...).start()
	j.await(1, "circle")
	if err := j.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if code := j.wait(); code == 0 {
		t.Error("exit code 0")
	}
	told := j.err.String()
	line := regexp.MustCompile(`deadlock: .*the trigger of event (\S+) waits for event ([0-9.]+\d)`)
	here := line.FindStringSubmatch(told)
	there := regexp.MustCompile(`deadlock: .*an operation on rank 1, which is to trigger event (\S+), waits for event ` +
		`([0-9.]+\d)`).FindStringSubmatch(told)
	if here == nil || there == nil || here[1] != there[2] || here[2] != there[1] {
		t.Errorf("no circle, but %q and %q, in\n%s", here, there, told)
	}
}
