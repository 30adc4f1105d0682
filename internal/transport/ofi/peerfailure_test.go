//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"testing"
	"time"
)

// TestSuspectDoesNotBlock: evidence of a death is taken in while others use the conduit, however long. The next pass
// asks the peer.
func TestSuspectDoesNotBlock(t *testing.T) {
	cs := networks[1].job(t, 2, Config{})
	defer func() {
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	c, p := cs[0], &cs[0].peers[1]
	told := make(chan struct{})
	c.mu.Lock()
	go func() {
		c.Suspect(1)
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Error("Suspect waits for the conduit")
	}
	c.mu.Unlock()
	<-told
	c.Poll(1, &inTurn{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.known { // it may have answered already
		t.Error("the peer was not asked")
	}
}
