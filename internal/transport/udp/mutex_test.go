package udp

import (
	"testing"

	"github.com/golci/golci/internal/test/inside"
)

func TestPollMutex(t *testing.T) {
	var m pollMutex
	if !m.lockUser() {
		t.Fatal("a free lock was refused")
	}
	if m.lockUser() {
		t.Fatal("a user was let in beside another, who may be himself")
	}
	if m.lockBackground() {
		t.Fatal("the keeper was let in beside a user")
	}
	m.Unlock()
	if !m.lockBackground() || m.lockBackground() {
		t.Fatal("the keeper has a free lock once")
	}
	var got bool
	waits, ended := inside.Waits("udp.(*pollMutex).lockUser", func() { got = m.lockUser() })
	if !waits {
		t.Fatal("a user did not wait for the keeper")
	}
	m.Unlock()
	if <-ended; !got {
		t.Fatal("a user was sent away by the keeper")
	}
	m.Unlock()
}
