package udp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// TestReport: a rank tells what came, and what is on its way to whom; while somebody polls, it tells that and does
// not wait.
func TestReport(t *testing.T) {
	j := udptest.Job{Linger: 100 * time.Millisecond}
	valves := make([]*valve, 2)
	j.Wrap = func(rank int, w udp.Wire) udp.Wire {
		valves[rank] = &valve{Wire: w}
		return valves[rank]
	}
	udps := j.OpenUDP(t, 2, conduit.Config{})
	cs := []conduit.Conduit{udps[0], udps[1]}
	exchangeAll(t, cs, 10)
	valves[1].shut.Store(true)
	s := &tallySink{}
	if err := sendOne(cs[0], 1, s); err != nil {
		t.Fatal(err)
	}
	if r := udps[0].Report(); !strings.Contains(r, "of this job") || !strings.Contains(r, "packets unacknowledged") {
		t.Error(r)
	}
	valves[1].shut.Store(false)
	for s.from[1].Load() == 0 {
		_ = sendOne(cs[1], 0, s)
		cs[0].Poll(16, reporter{t, s, udps[0].Report})
	}
	closeAll(t, cs)
}

// reporter is a sink that asks for a report.
type reporter struct {
	t *testing.T
	*tallySink
	report func() string
}

func (r reporter) Record(src int, rec []byte) {
	if s := r.report(); !strings.Contains(s, "somebody has been polling") {
		r.t.Error(s)
	}
	r.tallySink.Record(src, rec)
}

// TestSilentPeerOfAnotherMode: where a peer seems silent because its key or mode is another, the error tells that
// something came.
func TestSilentPeerOfAnotherMode(t *testing.T) {
	j := frail
	cs, valves := withValves(t, j, 2)
	exchangeAll(t, cs, 10)
	valves[1].shut.Store(true)
	s, err := mmsg.Open(loopback, mmsg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to := valves[0].Info().Addr
	if _, err := s.Send([]mmsg.Datagram{{Buf: make([]byte, 100), Addr: to}, {Buf: make([]byte, 100), Addr: to}}); err != nil {
		t.Fatal(err)
	}
	died := awaitDeath(cs[0], 1)
	checkDeath(t, died, 1)
	if !strings.Contains(died.Error(), "2 datagrams of another job, key or mode") {
		t.Error(died)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	closeAll(t, cs)
}
