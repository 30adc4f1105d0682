package udp

import (
	"testing"
	"time"
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
	released := make(chan bool)
	go func() {
		time.Sleep(5 * time.Millisecond)
		m.Unlock()
		close(released)
	}()
	if !m.lockUser() {
		t.Fatal("a user was sent away by the keeper")
	}
	<-released
	m.Unlock()
}
