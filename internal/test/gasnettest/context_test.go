package gasnettest

import (
	"errors"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/barrier"
)

// TestCallsInHandlers: a handler may reply, and do nothing else that sends, polls or blocks.
func TestCallsInHandlers(t *testing.T) {
	r := newJob(t, networks[0], 1, newSeed(t), options{memory: 4096}).ranks[0]
	calls := map[string]func() error{
		"Short request":   func() error { return r.e.RequestShort(0, hNothing) },
		"Medium request":  func() error { return r.e.RequestMedium(0, hNothing, nil) },
		"Long request":    func() error { return r.e.RequestLong(0, hNothing, make([]byte, 4096), 0) },
		"barrier, notify": func() error { return r.b.Notify(0, barrier.Anonymous) },
		"barrier, wait":   func() error { return r.b.Wait(0, barrier.Anonymous) },
		"barrier, try": func() error {
			_, err := r.b.Try(0, barrier.Anonymous)
			return err
		},
	}
	ran := 0 // handlers; this goroutine polls
	try := func(where string) {
		for what, call := range calls {
			if err := call(); !errors.Is(err, am.ErrContext) {
				t.Errorf("%s in a %s handler: %v", what, where, err)
			}
		}
		ran++
	}
	r.handle(hReplies, 0, func(tok *am.Token, _ []uint64, _ []byte) {
		try("request")
		r.ok(tok.ReplyShort(hLeaves))
	})
	r.handle(hLeaves, am.NoReply, func(*am.Token, []uint64, []byte) { try("reply") })
	r.handle(hNothing, am.NoReply, func(*am.Token, []uint64, []byte) { r.bad("a refused request was sent") })
	if err := r.e.RequestShort(0, hReplies); err != nil {
		t.Fatal(err)
	}
	r.ok(r.until(func() bool { return ran == 2 }))
	for range 100 {
		r.e.Poll()
	}
}
