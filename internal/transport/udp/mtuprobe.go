package udp

import (
	"time"

	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/udp/nic"
)

const (
	sizeEvery  = 50 * time.Millisecond // between looks at what became of large datagrams
	answerLast = time.Second           // a probe without an answer until then is lost
)

// sizer finds how large the datagrams to one peer may be. It sends nothing and reads no clock. Under engine.
//
// The evidence is what becomes of large segments. But a segment in parts is lost with any of them, and its parts may be
// shorter than other datagrams. So the loss of one is a reason for a check: a probe of the size in use. Where all that
// is under way goes in parts, nothing else would show that datagrams of that size vanish.
type sizer struct {
	mtu                  *nic.MTU
	arrived, lost, parts uint64    // segments, of the core's counts: large ones, and losses of those in parts
	probed, checked      lostProbe // a larger size, and the one in use
	doubt                bool      // the size in use is to be checked
	heard                bool      // something came from the peer since the last look
}

// lostProbe is a probe that was not answered.
type lostProbe struct {
	size int // 0: there is none
	at   time.Duration
}

// lookAtLosses judges what has become of large datagrams by the core's counts. used is the size in use, and told says
// what the system takes the path for. alone means that large ones were lost and nothing was heard: a small datagram is
// to ask whether the peer is there at all.
func (z *sizer) lookAtLosses(s *reliable.Stats, used int, told func() int, now time.Duration) (alone bool) {
	m := z.mtu
	lost := min(s.LargeLost-z.lost, 8)
	z.doubt = z.doubt || s.PartsLost != z.parts
	if z.checked.size > 0 && now-z.checked.at >= max(sizeEvery, 2*s.SmoothRTT) {
		if z.checked.size == used {
			lost++
		}
		z.checked = lostProbe{}
	}
	if s.LargeArrived != z.arrived {
		m.Arrived(used, now)
		z.doubt = false
	} else {
		for range lost {
			m.TimedOut(used, now)
		}
		if m.Payload() < used {
			m.Told(used, told())
		}
		if z.heard {
			m.Arrived(1, now)
		} else {
			alone = lost > 0
		}
	}
	z.arrived, z.lost, z.parts, z.heard = s.LargeArrived, s.LargeLost, s.PartsLost, false
	if z.probed.size > 0 && now-z.probed.at > answerLast {
		m.TimedOut(z.probed.size, now)
		z.probed = lostProbe{}
	}
	return alone
}

// probe is the size of a probe that is to leave now, and whether there is one.
func (z *sizer) probe(now time.Duration) (size int, ok bool) {
	if z.doubt = z.doubt && z.mtu.Below() > 0; z.doubt {
		if z.checked.size > 0 {
			return 0, false
		}
		z.checked = lostProbe{z.mtu.Payload(), now}
		return z.checked.size, true
	}
	if size, ok = z.mtu.Probe(now); ok {
		z.probed = lostProbe{size, now}
	}
	return size, ok
}

// probeAnswered takes in the answer to a probe of so many bytes; false if it is none that was sent.
func (z *sizer) probeAnswered(size int, now time.Duration) bool {
	switch {
	case size <= 0:
		return false
	case size == z.checked.size:
		z.checked, z.doubt = lostProbe{}, false
	case size == z.probed.size:
		z.probed = lostProbe{}
	default:
		return false
	}
	z.mtu.Arrived(size, now)
	return true
}
