//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"context"
	"errors"
	"testing"
)

// TestStuck: a call that does not return ends with its context, and so do those that wait for it, whatever theirs.
func TestStuck(t *testing.T) {
	c := newClient()
	begun, release := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	go func() {
		first <- c.doCall(ctx, "first", func() error { close(begun); <-release; return nil })
	}()
	<-begun
	go func() { second <- c.Put(context.Background(), "key", nil) }()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	if err := <-second; !errors.Is(err, ErrStuck) {
		t.Errorf("the second: %v", err)
	}
	if err := c.Finalize(context.Background()); !errors.Is(err, ErrStuck) {
		t.Errorf("Finalize: %v", err)
	}
	close(release)
	<-c.turn
	c.turn <- struct{}{}
	if err := c.doCall(t.Context(), "late", func() error { return nil }); !errors.Is(err, ErrStuck) {
		t.Errorf("after a late return: %v", err)
	}
}

// TestEndedCalls: after the end no call reaches the library, and each says what the end was.
func TestEndedCalls(t *testing.T) {
	c := newClient()
	c.done.Store(true)
	if err := c.Put(t.Context(), "key", nil); !errors.Is(err, ErrDone) {
		t.Errorf("after Finalize: %v", err)
	}
	close(c.dead)
	if err := c.Fence(t.Context()); !errors.Is(err, ErrAborted) {
		t.Errorf("after Abort: %v", err)
	}
	if _, err := c.Get(t.Context(), 0, "key", 1); !errors.Is(err, ErrAborted) {
		t.Errorf("after Abort: %v", err)
	}
	if err := c.Abort(t.Context(), 1, ""); !errors.Is(err, ErrAborted) {
		t.Errorf("a second Abort: %v", err)
	}
}

// TestWho: a library that has joined another job, or none, is found out.
func TestWho(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PMIX_NAMESPACE": "job", "PMIX_RANK": "2"}[name]
		return v, ok
	}
	for _, c := range []struct {
		space string
		rank  uint32
		ok    bool
	}{{"job", 2, true}, {"job", 0, false}, {"singleton.vm.5", 2, false}, {"", 0, false}} {
		client := newClient()
		copy(client.me.namespace[:], c.space)
		client.me.rank = c.rank
		if err := client.checkMembership(env); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrServer) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
