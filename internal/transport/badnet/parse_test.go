package badnet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSettingsAreRead(t *testing.T) {
	var f Faults
	spec := "loss=0.1, burst=2,dup=0.2,reorder=0.3,reorderby=4ms,delay=5ms,jitter=6ms,corrupt=0.7,truncate=0.8,cut=2s,heal=3s,seed=9,queue=10"
	if err := Fields(spec, f.Set); err != nil {
		t.Fatal(err)
	}
	want := Faults{
		Seed: 9, Loss: 0.1, Burst: 2, Dup: 0.2, Reorder: 0.3, ReorderBy: 4 * time.Millisecond, Delay: 5 * time.Millisecond,
		Jitter: 6 * time.Millisecond, Corrupt: 0.7, Truncate: 0.8, CutAfter: 2 * time.Second, HealAfter: 3 * time.Second, Queue: 10,
	}
	if f != want {
		t.Errorf("got %+v", f)
	}
	for _, bad := range []string{"loss", "loss=", "loss=x", "cut=5", "seed=-1", "queue=1.5", "loss=0.1,loss=0.2", "=1", "nothing=1", ","} {
		if err := Fields(bad, f.Set); !errors.Is(err, ErrFaults) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := Fields("  ", func(string, string) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
}

// TestTakenPacketsStay: what Take gave is not written to before it is given back, and then its memory is used again.
func TestTakenPacketsStay(t *testing.T) {
	i := mustNew(t, Faults{Seed: 1, Dup: 1})
	var kept [][]byte
	var numbers []string
	for k := range 3 {
		i.Push(0, packet(uint32(k)))
	}
	for {
		p, ok := i.Take(0)
		if !ok {
			break
		}
		kept = append(kept, p.Data)
		numbers = append(numbers, fmt.Sprint(p.Number))
	}
	if got := strings.Join(numbers, " "); got != "0 0 1 1 2 2" || i.Pushed() != 3 {
		t.Fatalf("numbers %s of %d", got, i.Pushed())
	}
	i.Push(0, packet(9))
	for k, p := range kept {
		if want := packet(uint32(k / 2)); string(p) != string(want) {
			t.Errorf("packet %d is now %x", k, p)
		}
	}
	i.Free(kept[0])
	i.Push(0, packet(10))
	if string(kept[0]) != string(packet(10)) {
		t.Error("memory given back was not used again")
	}
}

// TestIdleMemoryIsBounded: a wave of packets does not hold its memory for good.
func TestIdleMemoryIsBounded(t *testing.T) {
	i := mustNew(t, Faults{})
	big := make([]byte, 1<<16)
	for range 2 * maxIdle / len(big) {
		i.Push(0, big)
	}
	for p, ok := i.Take(0); ok; p, ok = i.Take(0) {
		i.Free(p.Data)
	}
	sum := 0
	for _, b := range i.memory.free {
		sum += cap(b)
	}
	if sum != i.memory.idle || sum > maxIdle || sum < maxIdle/2 {
		t.Errorf("%d bytes kept, counted %d", sum, i.memory.idle)
	}
}
