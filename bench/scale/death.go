package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/golci/golci/bench/scale/vtime"
	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/udp/deathnotice"
)

// doomed is the peer that dies, as the endpoints of all others number it: they have no other.
const doomed = 0

// urgent is the tag of news; any would do.
const urgent = 1

// mourning is a job that loses its last rank.
type mourning struct {
	net   *vtime.Net[struct{}]
	ranks []*mourner
	dead  int
	news  int           // bytes of the packet that tells of a death
	heard int           // ranks that have heard
	told  int           // hops of the news to the last of them
	judge int           // ranks that have judged it dead
	last  time.Duration // when the last of them did
}

// mourner is one rank: what it has heard, and its end of the pair with the rank that dies.
type mourner struct {
	m       *mourning
	rank    int
	knows   bool
	hops    int // of the news that came first
	notices deathnotice.Notices
	pair    *reliable.Endpoint
	alarm   time.Duration // the next; it may be early
	buf     []byte
}

func death(ctx context.Context, c Config, n int) (outcome, error) {
	m := &mourning{net: vtime.New[struct{}](n, c.Link), ranks: make([]*mourner, n-1), dead: n - 1}
	m.net.Take = m.take
	var err error
	for r := range m.ranks {
		if m.ranks[r], err = m.mourner(r); err != nil {
			return outcome{}, err
		}
	}
	if m.news, err = newsBytes(); err != nil {
		return outcome{}, err
	}
	m.ranks[n-2].hear(0) // the rank that had a connection to it
	m.net.Run()
	o := outcome{time: m.last, ranks: m.net.Sent, rounds: m.told}
	o.state = weigh(func() *mourner {
		one, _ := m.mourner(0) // it has succeeded before
		return one
	})
	if m.heard != n-1 || m.judge != n-1 {
		return o, fmt.Errorf("%w: %d of %d ranks have heard of the death, %d have judged it", ErrJob, m.heard, n-1, m.judge)
	}
	return o, ctx.Err()
}

func (m *mourning) mourner(r int) (*mourner, error) {
	x := &mourner{m: m, rank: r, notices: deathnotice.New(r, m.dead+1)}
	var err error
	if x.pair, err = reliable.New(reliable.Config{Sink: x}); err != nil {
		return nil, err
	}
	return x, x.pair.Add(doomed, reliable.Link{MTU: 1400, Number: 1}, 0)
}

// take is news, or the alarm of a pair.
func (m *mourning) take(to, from int, _ struct{}) {
	if to == m.dead {
		return
	}
	x := m.ranks[to]
	if from != vtime.Alarm {
		x.hear(m.ranks[from].hops + 1)
		return
	}
	x.poll()
}

// hear takes in the news: it is passed on, and the rank itself is asked.
func (x *mourner) hear(hops int) {
	tell := x.notices.Hear(x.m.dead)
	if x.knows {
		return // and passes nothing on
	}
	x.knows, x.hops = true, hops
	x.m.heard++
	x.m.told = max(x.m.told, hops)
	for _, to := range tell {
		x.m.net.Send(x.rank, to, x.m.news, 1, struct{}{})
	}
	x.pair.Suspect(doomed, x.m.net.Now)
	x.poll()
}

// poll lets the pair send what it wants to, and wake up again.
func (x *mourner) poll() {
	now := x.m.net.Now
	x.pair.Outgoing(now, 4, x)
	if at := x.pair.NextTimer(); at < never && at != x.alarm {
		x.alarm = at
		x.m.net.After(x.rank, max(0, at-now), struct{}{})
	}
}

// never is later than any timer of a pair that has something to wait for.
const never = 24 * time.Hour

// Room implements reliable.Out.
func (x *mourner) Room(_, n int) []byte {
	if len(x.buf) < n {
		x.buf = make([]byte, n)
	}
	return x.buf
}

// Packet implements reliable.Out: it goes to the dead rank, who does not answer.
func (x *mourner) Packet(_ int, _ uint64, _ reliable.Channel, packet []byte) {
	x.m.net.Send(x.rank, x.m.dead, len(packet), 1, struct{}{})
	x.buf = nil
}

// Dead implements reliable.Sink.
func (x *mourner) Dead(int, error) {
	x.m.judge++
	x.m.last = max(x.m.last, x.m.net.Now)
}

// Message implements reliable.Sink.
func (*mourner) Message(int, uint8, []byte) {}

// Put implements reliable.Sink.
func (*mourner) Put(int, uint8, uint64, uint64, []byte) {}

// Ended implements reliable.Sink.
func (*mourner) Ended(int, uint64, error) {}

// newsBytes is the length of the packet that tells of a death.
func newsBytes() (int, error) {
	var p packet
	e, err := reliable.New(reliable.Config{Sink: &mourner{}})
	if err != nil {
		return 0, err
	}
	if err := e.Add(0, reliable.Link{MTU: 1400, Number: 1}, 0); err != nil {
		return 0, err
	}
	e.Send(0, reliable.Message{Data: make([]byte, 4), Tag: urgent, Urgent: true}, 0)
	e.Outgoing(0, 1, &p)
	if p.n == 0 {
		return 0, fmt.Errorf("%w: no packet tells of a death", ErrJob)
	}
	return p.n, nil
}

// packet is a way out that only measures.
type packet struct{ n int }

func (*packet) Room(_, n int) []byte                                   { return make([]byte, n) }
func (p *packet) Packet(_ int, _ uint64, _ reliable.Channel, b []byte) { p.n = len(b) }
