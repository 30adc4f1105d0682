package am

import (
	"sync/atomic"
	"testing"
)

// TestLongAsync: the call-back of an asynchronous Long is called once, when its payload may be overwritten. The handler
// sees the payload as it was before. Replies longer than declared are split. Without a call-back they are copied.
func TestLongAsync(t *testing.T) {
	overAll(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{})
		const room = 300_000
		for _, e := range es {
			e.SetSegment(make([]byte, 2*room))
		}
		var requests, replies, told atomic.Int64
		scrub := func(p []byte) func(error) {
			var once atomic.Bool
			return func(err error) {
				if once.Swap(true) || err != nil {
					t.Errorf("the call-back is called again, or with %v", err)
				}
				clear(p)
				told.Add(1)
			}
		}
		check := func(what string, a []uint64, p []byte) {
			if uint64(len(p)) != a[0] || sum(nil, p) != a[1] {
				t.Errorf("a %s of %d bytes came damaged, with %d bytes", what, a[0], len(p))
			}
		}
		register(t, es, 1, Spec{Name: "ask", MaxReply: 8, Run: func(tok *Token, a []uint64, p []byte) {
			check("request", a, p)
			requests.Add(1)
			back := fill(int(a[2]), 3)
			args := []uint64{a[2], sum(nil, back)}
			var err error
			if a[3] == 1 {
				err = tok.ReplyLongAsync(2, back, room, scrub(back), args...)
			} else {
				err = tok.ReplyLong(2, back, room, args...)
				clear(back)
			}
			if err != nil {
				t.Error(err)
			}
			if err := tok.ReplyLong(2, nil, 0); err == nil {
				t.Error("a second reply is sent")
			}
		}})
		register(t, es, 2, Spec{Name: "told", MaxReply: NoReply, Run: func(tok *Token, a []uint64, p []byte) {
			check("reply", a, p)
			if err := tok.ReplyShort(2); err == nil {
				t.Error("a reply is answered")
			}
			replies.Add(1)
		}})
		defer attend(es...)()
		want := int64(0)
		for i, n := range []int{0, 8, 9, 100, 5000, 100_000, room} {
			for _, async := range []uint64{0, 1} {
				p := fill(n, i)
				want += 1 + int64(async)
				if err := es[0].RequestLongAsync(1, 1, p, 0, scrub(p), uint64(n), sum(nil, p), uint64(n), async); err != nil {
					t.Fatal(err)
				}
				got := int64(2*i) + int64(async) + 1
				eventually(t, "the reply", func() bool { return replies.Load() == got && told.Load() == want })
				if requests.Load() != got {
					t.Fatalf("%d requests of %d arrived", requests.Load(), got)
				}
			}
		}
		eventually(t, "reply room", func() bool {
			es[0].senderOf(1).mu.Lock()
			defer es[0].senderOf(1).mu.Unlock()
			return es[0].senderOf(1).replies == 0
		})
		halvesLeft(t, es...)
		if err := es[0].RequestLongAsync(1, 9, nil, 0, func(error) { t.Error("called after an error") }); err == nil {
			t.Error("there is no handler 9")
		}
	})
}
