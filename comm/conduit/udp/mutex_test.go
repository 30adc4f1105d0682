package udp

import (
	"runtime"
	"strings"
	"testing"
)

func TestPollMutex(t *testing.T) {
	var m pollMutex
	if !m.lockUser() {
		t.Fatal("a free lock was refused")
	}
	if m.lockUser() {
		t.Fatal("a user was let in beside another, who may be himself")
	}
	if m.lockKeeper() {
		t.Fatal("the keeper was let in beside a user")
	}
	m.Unlock()
	if !m.lockKeeper() || m.lockKeeper() {
		t.Fatal("the keeper has a free lock once")
	}
	got := make(chan bool)
	go func() { got <- m.lockUser() }()
	for waits := false; !waits; waits = running("udp.(*pollMutex).lockUser") {
		select {
		case <-got:
			t.Fatal("a user did not wait for the keeper")
		default:
			runtime.Gosched()
		}
	}
	m.Unlock()
	if !<-got {
		t.Fatal("a user was sent away by the keeper")
	}
	m.Unlock()
}

// running says whether a goroutine is in the named function.
func running(function string) bool {
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), function+"(")
}
