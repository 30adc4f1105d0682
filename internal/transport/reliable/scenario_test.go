package reliable

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/scenario"
)

// TestScenarios replays testdata: two ranks, 0 and 1, and packets that go where the scenario sends them. Sequence
// numbers are written relative to the first. The inputs are
//
//	start [rooms=N] [seq=N] [ways=N]  two new endpoints
//	send R COUNT SIZE [urgent]  messages from rank R
//	pass R [quiet]              Outgoing of rank R; its packets are named 1, 2, ... and wait; quiet: only their number is told
//	deliver R [NAMES]           packets of rank R, all that wait or those named, arrive; they may be named again
//	drop R [NAMES]              packets of rank R are lost
//	refused R NAMES [way=N]     packets of rank R, which may have arrived, come back
//	suspect R                   rank R is told that the other is dead
//	mtu R SIZE                  the longest packet of rank R has so many bytes from now on
//	after DURATION              time passes
//	stats R                     what rank R has counted
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(string) []string {
		s := &script{t: t}
		return s.line
	})
}

type script struct {
	t    *testing.T
	w    *world
	seq  uint32
	sent [2][][]byte // packets by name, from 1
	wait [2][]int    // names of those that wait
	told []string    // by the last pass
}

func (s *script) line(line string) []string {
	f := strings.Fields(line)
	var a []int
	opt := map[string]int{}
	for _, x := range f[1:] {
		if k, v, ok := strings.Cut(x, "="); ok {
			opt[k], _ = strconv.Atoi(v)
		} else if n, err := strconv.Atoi(x); err == nil {
			a = append(a, n)
		}
	}
	switch f[0] {
	case "start":
		s.start(opt["rooms"], uint32(opt["seq"]), opt["ways"])
		return nil
	case "send":
		return s.send(a[0], a[1], a[2], slices.Contains(f, "urgent"))
	case "pass":
		return s.pass(a[0], slices.Contains(f, "quiet"))
	case "deliver", "drop":
		return s.arrive(a[0], a[1:], f[0] == "drop")
	case "refused", "suspect":
		return s.suspicion(f, a, opt["way"])
	case "mtu":
		if err := s.w.ranks[a[0]].e.SetMTU(1-a[0], a[1]); err != nil {
			return []string{err.Error()}
		}
		return nil
	case "after":
		d, err := time.ParseDuration(f[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.w.Now += d
		return nil
	case "stats":
		x := s.w.ranks[a[0]].e.Stats(1 - a[0])
		return []string{fmt.Sprintf("sent %d resent %d acks %d timeouts %d spurious %d received %d duplicates %d beyond %d",
			x.Sent, x.Resent, x.Acks, x.Timeouts, x.Spurious, x.Received, x.Duplicates, x.Beyond)}
	}
	s.t.Fatalf("unknown input %q", line)
	return nil
}

// suspicion is of the inputs that are about the death of a peer.
func (s *script) suspicion(f []string, a []int, way int) []string {
	n := s.w.ranks[a[0]]
	switch f[0] {
	case "refused":
		for _, name := range a[1:] {
			n.e.Refused(1-a[0], way, uint64(name-1), s.w.Now)
		}
	case "suspect":
		n.e.Suspect(1-a[0], s.w.Now)
	}
	return nil
}

func (s *script) start(rooms int, seq uint32, ways int) {
	s.seq, s.sent, s.wait = seq, [2][][]byte{}, [2][]int{}
	s.w = newWorld(s.t, 1, 2, Config{Rooms: rooms, Queue: 2 * Window}, Link{MTU: 1400, SendSeq: seq, Ways: ways})
	s.w.Now = time.Second
	for _, n := range s.w.ranks {
		n.count = true
		n.e.all[0].cc.window = 1 << 30 // congestion has its own tests
		n.e.all[0].cc.most = 1 << 30
	}
	s.w.Fate = func(src, _ int, packet []byte, _ time.Duration) []time.Duration {
		s.sent[src] = append(s.sent[src], slices.Clone(packet))
		name := len(s.sent[src])
		s.wait[src] = append(s.wait[src], name)
		s.told = append(s.told, s.tell(src, name, packet))
		return nil
	}
}

func (s *script) tell(src, name int, packet []byte) string {
	h, sack, body, _ := parse(packet)
	var x strings.Builder
	fmt.Fprintf(&x, "%d:", name)
	if h.flags&flagSegment != 0 {
		kind := "segment"
		if h.flags&flagPart != 0 {
			kind = "part of"
		}
		fmt.Fprintf(&x, " %s %d, %d bytes,", kind, h.seq-s.seq-uint32(src<<8+1-src), len(body))
	}
	fmt.Fprintf(&x, " ack %d", int32(h.ack-s.seq-uint32((1-src)<<8+src)))
	n := 0
	for ; len(sack) > 0; sack = sack[8:] {
		n += bits.OnesCount64(binary.BigEndian.Uint64(sack))
	}
	if n > 0 {
		fmt.Fprintf(&x, " and %d beyond it", n)
	}
	if h.flags&flagPriority != 0 {
		x.WriteString(", priority")
	}
	if h.flags&flagAnswer != 0 {
		x.WriteString(", answer")
	}
	return x.String()
}

func (s *script) send(r, count, size int, urgent bool) []string {
	for i := range count {
		if st := s.w.ranks[r].e.Send(1-r, Message{Data: make([]byte, size), Urgent: urgent}, s.w.Now); st >= Full {
			return []string{fmt.Sprintf("%v after %d", st, i)}
		}
	}
	return nil
}

func (s *script) pass(r int, quiet bool) []string {
	s.told = nil
	n := s.w.ranks[r]
	deaths := len(n.died)
	n.e.Outgoing(s.w.Now, 1<<20, n)
	if len(n.died) > deaths {
		s.told = append(s.told, "dead: "+n.last.Error())
	}
	if quiet {
		return []string{fmt.Sprintf("%d packets", len(s.told))}
	}
	return s.told
}

func (s *script) arrive(r int, names []int, lost bool) []string {
	if len(names) == 0 {
		names = slices.Clone(s.wait[r])
	}
	n := s.w.ranks[1-r]
	before, ends := n.bytes[r], n.ends
	for _, k := range names {
		s.wait[r] = slices.DeleteFunc(s.wait[r], func(x int) bool { return x == k })
		if !lost {
			n.e.Incoming(r, slices.Clone(s.sent[r][k-1]), s.w.Now)
		}
	}
	var out []string
	if d := n.bytes[r] - before; d > 0 {
		out = append(out, fmt.Sprintf("%d bytes of messages", d))
	}
	if d := n.ends - ends; d > 0 {
		out = append(out, fmt.Sprintf("%d ended", d))
	}
	return out
}
