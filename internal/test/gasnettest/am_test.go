package gasnettest

import (
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

// Handlers of testam.
const (
	hPing = 1 + iota
	hPong
	hPingMedium
	hPongMedium
	hPingLong
	hPongLong
	hOneWay
)

// pinger is a rank's state in testam.
type pinger struct {
	pongs, oneWay atomic.Int64
}

// newPinger registers handlers that send back what they get, and count.
func newPinger(r *rank) *pinger {
	p := new(pinger)
	max := r.e.MaxMedium()
	pong := func(_ *am.Token, a []uint64, data []byte) {
		if len(a) != 1 || a[0] != sum(nil, data) {
			r.bad("reply of %d bytes is damaged", len(data))
		}
		p.pongs.Add(1)
	}
	r.handle(hPing, 0, func(t *am.Token, a []uint64, _ []byte) { r.ok(t.ReplyShort(hPong, a...)) })
	r.handle(hPingMedium, max, func(t *am.Token, a []uint64, data []byte) { r.ok(t.ReplyMedium(hPongMedium, data, a...)) })
	r.handle(hPingLong, max, func(t *am.Token, a []uint64, data []byte) {
		// Back to the second half of the requester's segment, at the place that a[1] names.
		if len(data) <= max {
			r.ok(t.ReplyLong(hPongLong, data, int64(a[1]), a[0]))
		} else {
			r.ok(t.ReplyShort(hPong, sum(nil, nil)))
		}
	})
	r.handle(hPong, am.NoReply, pong)
	r.handle(hPongMedium, am.NoReply, pong)
	r.handle(hPongLong, am.NoReply, pong)
	r.handle(hOneWay, am.NoReply, func(_ *am.Token, a []uint64, data []byte) {
		if sum(a[1:], data) != a[0] {
			r.bad("request of %d bytes is damaged", len(data))
		}
		p.oneWay.Add(1)
	})
	return p
}

// wait waits for n pongs in all.
func (p *pinger) wait(r *rank, n int64) error {
	return r.until(func() bool { return p.pongs.Load() >= n })
}

const longRoom = 256 << 10

// TestAM is testam: ping-pong and flood of Short, Medium and Long, one way and with replies, at all ranks at once.
func TestAM(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		spmd(t, net, 3, options{segment: 2 * longRoom}, newPinger, func(r *rank, p *pinger) error {
			sent, err := pingPong(r, p)
			if err != nil {
				return err
			}
			if err := r.barrier(); err != nil {
				return err
			}
			if err := flood(r, p, sent); err != nil {
				return err
			}
			return oneWayFlood(r, p)
		})
	})
}

// pingPong has one request in flight at a time.
func pingPong(r *rank, p *pinger) (sent int64, err error) {
	buf := make([]byte, longRoom)
	one := func(err error) error {
		if err != nil {
			return err
		}
		sent++
		return p.wait(r, sent)
	}
	for range 48 / raceSlower {
		if err := one(r.e.RequestShort(r.next(), hPing, sum(nil, nil))); err != nil {
			return sent, err
		}
	}
	for _, n := range sizes(r.rng, r.e.MaxMedium()) {
		data := fill(buf[:n], uint64(n))
		if err := one(r.e.RequestMedium(r.next(), hPingMedium, data, sum(nil, data))); err != nil {
			return sent, err
		}
	}
	for _, n := range append(sizes(r.rng, r.e.MaxMedium()), longRoom/2, longRoom) {
		data := fill(buf[:n], uint64(n))
		if err := one(r.e.RequestLong(r.next(), hPingLong, data, 0, sum(nil, data), longRoom)); err != nil {
			return sent, err
		}
		if n <= r.e.MaxMedium() && sum(nil, r.seg[longRoom:longRoom+n]) != sum(nil, data) {
			r.bad("Long reply of %d bytes is not in the segment", n)
		}
	}
	return sent, nil
}

// flood has as many requests in flight as go, each with a reply.
func flood(r *rank, p *pinger, sent int64) error {
	data := fill(make([]byte, 300), 1)
	check, none := sum(nil, data), sum(nil, nil)
	const each = 200 / raceSlower
	for range each {
		if err := r.e.RequestShort(r.next(), hPing, none); err != nil {
			return err
		}
		if err := r.e.RequestMedium(r.prev(), hPingMedium, data, check); err != nil {
			return err
		}
		if err := r.e.RequestLong(r.next(), hPingLong, data, 64, check, longRoom); err != nil {
			return err
		}
	}
	return p.wait(r, sent+3*each)
}

// oneWayFlood sends without replies.
func oneWayFlood(r *rank, p *pinger) error {
	const each = 300 / raceSlower
	data := fill(make([]byte, 700), 2)
	for k := range uint64(each) {
		payload := data[:k]
		if err := r.e.RequestMedium(r.next(), hOneWay, payload, sum([]uint64{k}, payload), k); err != nil {
			return err
		}
	}
	return r.until(func() bool { return p.oneWay.Load() == each })
}
