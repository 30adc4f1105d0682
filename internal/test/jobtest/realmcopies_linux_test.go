package jobtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golci/golci/realm"
)

// copyPrefix begins what copiesMourn tells; <nil> is good.
const copyPrefix = "copy_"

// Elements of 8 bytes: what one message takes, what the receiver may read, and what goes in chunks.
var copySizes = []int64{10, 8000, 400_000}

// copiesMourn has copies under way between ranks 1 and 2, in both directions; this rank owns their events. When rank 1
// dies all end, those under way and those that wait. The poison names the rank. Copies between the others go on.
func copiesMourn(rt *realm.Runtime) {
	ctx, held := context.Background(), rt.NewUserEvent()
	var on [3][]realm.Instance // by rank and size
	for rank := range on {
		for _, n := range copySizes {
			in, e := realm.CreateInstance(rt, rt.MemoryOf(rank, realm.System), realm.Range(0, n), realm.SOA,
				[]realm.Field{realm.FieldOf[int64]("x")})
			if err := rt.Wait(ctx, e); err != nil {
				fmt.Println("known: nothing at 0: an instance:", err)
			}
			on[rank] = append(on[rank], in)
		}
	}
	know := func(what string, err error) {
		fmt.Printf("known: %s%s at %d: %v\n", copyPrefix, what, time.Now().UnixNano(), err)
	}
	begun := make(chan struct{})
	var ended sync.WaitGroup // what ends although held does not trigger
	for what, between := range map[string][2]int{"to": {1, 2}, "from": {2, 1}} {
		dst, src := on[between[0]], on[between[1]]
		for k := range copySizes {
			ended.Go(func() { know(fmt.Sprint("flowing_", what, k), copyOn(ctx, rt, dst[k], src[k], begun)) })
			gated := realm.Copy(rt, dst[k], src[k], realm.Part{}, realm.After(held.Event()))
			go func() { know(fmt.Sprint("gated_", what, k), blames(rt.Wait(ctx, gated), 1)) }()
		}
		after := realm.Spawn(rt, realm.ProcessorOf(2), pass, struct{}{},
			realm.After(realm.Copy(rt, dst[0], src[0], realm.Part{}, realm.After(held.Event()))))
		go func() { know("after_"+what, blames(rt.Wait(ctx, after), 1)) }()
	}
	for range 2 * len(copySizes) {
		<-begun
	}
	fmt.Println("waits")
	for k := range copySizes { // between ranks that live
		var err error
		for range 3 {
			there := realm.Copy(rt, on[2][k], on[0][k], realm.Part{})
			err = errors.Join(err, rt.Wait(ctx, realm.Copy(rt, on[0][k], on[2][k], realm.Part{}, realm.After(there))))
		}
		know(fmt.Sprint("survivors_", k), err)
	}
	ended.Wait()
	know("held", held.Trigger(realm.NoEvent)) // and rank 2 finds that it cannot begin
}

// copyOn copies again and again, eight at a time, until that cannot be done. It then waits for all.
func copyOn(ctx context.Context, rt *realm.Runtime, dst, src realm.Instance, begun chan<- struct{}) error {
	var all [8]realm.Event
	for n := 0; ; n++ {
		if n == len(all) {
			begun <- struct{}{}
		}
		if rt.Wait(ctx, all[n%len(all)]) != nil {
			break
		}
		all[n%len(all)] = realm.Copy(rt, dst, src, realm.Part{})
	}
	var wrong error
	for _, e := range all {
		if err := rt.Wait(ctx, e); err != nil {
			wrong = errors.Join(wrong, blames(err, 1))
		}
	}
	return wrong
}

// blames is nil for a poison of that rank, or one whose cause has been forgotten, because the event is of the past.
func blames(err error, rank int) error {
	var p *realm.PoisonError
	if errors.As(err, &p) && (p.Rank == rank || p.Rank < 0) {
		return nil
	}
	return fmt.Errorf("not poisoned by rank %d: %w", rank, err)
}
