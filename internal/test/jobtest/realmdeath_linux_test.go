package jobtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/shm"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// realmRole is a rank of package realm. Rank 1 of three is killed, and rank 0 tells what becomes of what depends on it.
const realmRole = "realm"

var (
	stay = realm.Register("stay", func(c *realm.Ctx, until realm.Event) error { return c.Wait(until) })
	pass = realm.Register("pass", func(*realm.Ctx, struct{}) error { return nil })
	// lend gives the spawner an event of this rank that nobody will trigger.
	lend = realm.Register("lend", func(c *realm.Ctx, _ struct{}) error {
		e := c.Runtime().NewUserEvent().Event()
		realm.Spawn(c, realm.ProcessorOf(0), borrow, e)
		return nil
	})
	// join arrives at a barrier from a rank, and so becomes known to it.
	join = realm.Register("join", func(c *realm.Ctx, id realm.BarrierID[struct{}]) error {
		return id.On(c).Arrive(1, struct{}{}, realm.NoEvent)
	})
	borrow realm.Task[realm.Event]
	lent   = make(chan realm.Event, 1)
)

func init() {
	borrow = realm.Register("borrow", func(_ *realm.Ctx, e realm.Event) error {
		lent <- e
		return nil
	})
}

// realmMourners have operations of rank 0 depend on rank 1. Each says "waits" when they wait, and then what becomes of
// them.
var realmMourners = []func(rt *realm.Runtime){realmMourn, locksMourn, copiesMourn}

// realmMain is a rank of package realm. Rank 0 mourns; all stay until they are killed.
func realmMain() int {
	signal.Ignore(syscall.SIGTERM)
	rt, err := realm.Start(context.Background(), rank.Config{Processors: true, Exit: os.Exit}, realm.Config{})
	if err == nil {
		fmt.Printf("rank %d pid %d\n", rt.Rank(), os.Getpid())
		for _, mourn := range realmMourners {
			if rt.Rank() == 0 {
				go mourn(rt)
			}
		}
		time.Sleep(mournFor)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 3
}

// realmMourn has operations depend on rank 1 in each way.
func realmMourn(rt *realm.Runtime) {
	ctx, dying, other := context.Background(), realm.ProcessorOf(1), realm.ProcessorOf(2)
	realm.Spawn(rt, dying, lend, struct{}{})
	far := <-lent
	held := rt.NewUserEvent()
	runs := realm.Spawn(rt, dying, stay, far)
	waits := realm.Spawn(rt, dying, pass, struct{}{}, realm.After(held.Event()))
	here := realm.Spawn(rt, rt.CPU(0), pass, struct{}{}, realm.After(far))
	there := realm.Spawn(rt, other, pass, struct{}{}, realm.After(far))
	joined, moved := realmBarrier(rt, 0), realmBarrier(rt, 1)
	silent, silentMoved := realmSilentBarrier(rt, 0), realmSilentBarrier(rt, 2)
	for what, e := range map[string]realm.Event{
		"barrier": joined, "barrierThere": realm.Spawn(rt, other, pass, struct{}{}, realm.After(joined)),
		"silentBarrier": silent, "silentThere": realm.Spawn(rt, other, pass, struct{}{}, realm.After(silent)),
		"silentMoved": silentMoved, "collective": realm.CollectiveSpawn(rt, realm.CPU, pass, struct{}{}),
		"movedBarrier": moved, "movedThere": realm.Spawn(rt, other, pass, struct{}{}, realm.After(moved)),
		"event": far, "running": runs, "waiting": waits, "here": here, "there": there, "merged": rt.Merge(here,
			runs, held.Event()),
		"chained": realm.Spawn(rt, other, pass, struct{}{}, realm.After(waits)),
	} {
		go func() {
			err := rt.Wait(ctx, e)
			var p *realm.PoisonError
			if !errors.As(err, &p) || p.Rank != 1 {
				err = fmt.Errorf("not poisoned by rank 1: %w", err)
			}
			fmt.Printf("known: %s at %d: %v\n", what, time.Now().UnixNano(), err)
		}()
	}
	time.Sleep(100 * time.Millisecond)
	fmt.Println("waits")
	if err := rt.Wait(ctx, runs); err == nil {
		fmt.Println("known: nothing at 0: a task of the dead rank has ended well")
	}
	after := realm.Spawn(rt, dying, pass, struct{}{})
	goes := realm.Spawn(rt, other, pass, struct{}{}, realm.After(realm.Spawn(rt, rt.CPU(0), pass, struct{}{})))
	fmt.Printf("known: later at %d: %v\n", time.Now().UnixNano(), rt.Wait(ctx, after))
	fmt.Printf("known: survivors at %d: %v\n", time.Now().UnixNano(), rt.Wait(ctx, goes))
}

// realmBarrier is a phase of a barrier that rank 1 has joined, and that a rank owns. It never triggers.
func realmBarrier(rt *realm.Runtime, owner int) realm.Event {
	b, err := realm.NewBarrier(rt, 3, realm.Reduction[struct{}]{})
	if err == nil {
		err = b.Migrate(owner)
	}
	if err == nil {
		err = rt.Wait(context.Background(), realm.Spawn(rt, realm.ProcessorOf(1), join, b.ID()))
	}
	if err != nil {
		fmt.Println("known: nothing at 0: a barrier:", err)
	}
	return b.Event()
}

// realmSilentBarrier is a phase of a barrier that a rank owns. Rank 1 is to arrive there, and does not know of it yet.
func realmSilentBarrier(rt *realm.Runtime, owner int) realm.Event {
	b, err := realm.NewBarrier(rt, 1, realm.Reduction[struct{}]{}, realm.Participants(1))
	if err == nil {
		err = b.Migrate(owner)
	}
	if err != nil {
		fmt.Println("known: nothing at 0: a barrier:", err)
	}
	return b.Event()
}

// TestRealmDeath kills the process of a rank on which operations depend: tasks, events, barriers, reservations and
// copies. All of them end, poisoned, and the poison names the rank. What does not depend on it goes on.
func TestRealmDeath(t *testing.T) {
	for _, conduit := range []string{shm.Name, udp.Name} {
		t.Run(conduit, func(t *testing.T) {
			j := golci(t, "run", "-n", "3", "-env", settings.Conduit.Env()+"="+conduit, "-grace", "30s",
				"-env", roleVar+"="+realmRole, os.Args[0]).start()
			j.await(len(realmMourners), "waits")
			start := time.Now()
			if err := syscall.Kill(j.pids(3)[1], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			known, _ := j.known(17 + len(locksWant) + 5*len(copySizes) + 3)
			var took []string
			for what, at := range known {
				took = append(took, fmt.Sprintf("%s %v", what, at.Sub(start).Round(100*time.Microsecond)))
			}
			slices.Sort(took)
			t.Logf("%s", strings.Join(took, ", "))
			for _, m := range knownLine.FindAllStringSubmatch(j.out.String(), -1) {
				if !realmKnows(m[1], m[3]) {
					t.Errorf("%s: %s", m[1], m[3])
				}
			}
			if err := j.cmd.Process.Kill(); err != nil { // which ends the others
				t.Fatal(err)
			}
			j.wait()
		})
	}
}

// realmKnows says whether an operation has ended as it should.
func realmKnows(what, how string) bool {
	if want, ok := locksWant[what]; ok {
		return strings.Contains(how, want)
	}
	if strings.HasPrefix(what, copyPrefix) {
		return how == "<nil>"
	}
	return strings.Contains(how, "rank 1 has died") == (what != "survivors") && !strings.Contains(how, "not poisoned")
}
