// Command survive_realm is a job of package realm in which a rank kills itself. The others go on and end well.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/golci/golci/realm"
)

const victim = 1

var die = realm.Register("survive.die", func(*realm.Ctx, struct{}) error {
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
})

var goOn = realm.Register("survive.goOn", func(*realm.Ctx, struct{}) error { return nil })

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func run(ctx context.Context) error {
	rt, err := realm.Init()
	if err != nil {
		return err
	}
	if rt.Rank() == 0 {
		if err := rt.Wait(ctx, realm.Spawn(rt, realm.ProcessorOf(victim), die, struct{}{})); !errors.Is(err, realm.ErrPeer) {
			return fmt.Errorf("the task on the rank that died: %w", err)
		}
		last := realm.NoEvent
		for r := range rt.Size() {
			if r != victim {
				last = realm.Spawn(rt, realm.ProcessorOf(r), goOn, struct{}{}, realm.After(last))
			}
		}
		if err := rt.Wait(ctx, last); err != nil {
			return err
		}
		fmt.Printf("%d went on\n", rt.Size()-1)
		if err := rt.Shutdown(realm.NoEvent); err != nil {
			return err
		}
	}
	return rt.WaitForShutdown(ctx)
}
