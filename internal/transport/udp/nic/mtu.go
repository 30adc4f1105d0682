package nic

import (
	"slices"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// MTU decides how large the datagrams to one peer may be, in bytes of UDP payload. It begins with what the kernel
// says and goes down when the kernel refuses a datagram, or when large ones are lost again and again while small ones
// arrive: somewhere on the way is a link with a smaller MTU, and nobody tells (a black hole; RFC 8899, section 4.3).
// From time to time it asks for a larger one to be tried. Times are counted from any moment, the same for all calls.
// It has one owner at a time; no call blocks or allocates, but for TooBig.
type MTU struct {
	steps []int // sizes from the largest down; the last is the least that the caller can use
	at    int   // the step in use

	lost   int  // datagrams too large for the next step down that were lost, since one arrived
	others bool // a smaller one arrived since the first of them

	probing bool          // the fate of a probe is not known
	pause   time.Duration // between probes
	next    time.Duration // time of the next probe
}

const (
	// lostWithOthers is how many large datagrams in a row must be lost, with smaller ones arriving, to go a step
	// down; lostAlone is how many if nothing is known of smaller ones, as where there are none.
	lostWithOthers = 6
	lostAlone      = 16
	// firstPause and maxPause bound the time between probes, which doubles with each that fails; goodPause is the
	// time after one that came through.
	firstPause = 5 * time.Second
	maxPause   = 10 * time.Minute
	goodPause  = 100 * time.Millisecond
)

// ethernet is the payload of its frames.
const ethernet = 1500 - 48

// usual are payloads that links are made for: jumbo frames, old rings, Ethernet, Ethernet within tunnels; 48 bytes of
// headers.
var usual = []int{32768 - 48, 16384 - 48, 9000 - 48, 4352 - 48, 1500 - 48, 1400 - 48}

// NewMTU begins with payload, what the kernel says of the path (Path.Payload). What the kernel says may come from
// anybody: so larger sizes are tried from the start, up to most (Path.Most), and the size never goes below least,
// which the caller needs.
func NewMTU(payload, most, least int) *MTU {
	payload = max(payload, least)
	most = max(most, payload)
	m := &MTU{steps: []int{most}, pause: firstPause}
	for _, s := range append(usual, mmsg.SafePayload, least) {
		if s >= least && (s < most-most/10 || s < most && s <= mmsg.SafePayload) { // less is no step
			m.steps = append(m.steps, s)
		}
	}
	m.lower(payload)
	return m
}

// Payload is how many bytes a datagram may hold now, other than a probe.
func (m *MTU) Payload() int { return m.steps[m.at] }

// Below is what a datagram may hold after the next step down; 0 if there is none.
func (m *MTU) Below() int {
	if m.at == len(m.steps)-1 {
		return 0
	}
	return m.steps[m.at+1]
}

// TooBig says that a datagram of size bytes was refused by this machine's kernel (mmsg.ErrTooBig), and what it says
// of the path now (mmsg.PathPayload; 0: not known). A datagram that is refused though it should fit is taken for too
// large. It tells whether smaller ones can be tried; false: the kernel refuses the least size.
func (m *MTU) TooBig(size, payload int, now time.Duration) bool {
	if size <= m.least() {
		return false
	}
	told := payload > 0 && payload < size
	if !told {
		payload = size - 1
	}
	if size > m.Payload() {
		m.probeFailed(size, now)
	}
	if payload < m.Payload() {
		if told {
			m.lower(payload)
		} else {
			m.lower(m.fitStep(payload))
		}
		m.next = now + m.pause
	}
	return true
}

// Told says what the kernel says of the path (mmsg.PathPayload) after losses have shown that datagrams of size bytes
// do not pass. It is believed between the least size and that one: a router may have told, or anybody else.
func (m *MTU) Told(size, payload int) {
	if payload >= m.least() && payload < size && payload != m.Payload() {
		m.lower(payload)
	}
}

func (m *MTU) least() int { return m.steps[len(m.steps)-1] }

// fitStep is the largest step of at most payload bytes, or the least.
func (m *MTU) fitStep(payload int) int {
	for _, s := range m.steps {
		if s <= payload {
			return s
		}
	}
	return m.least()
}

// lower goes to payload, or the least step if that is more, and makes it a step if it is none.
func (m *MTU) lower(payload int) {
	payload = max(payload, m.least())
	m.at = slices.IndexFunc(m.steps, func(s int) bool { return s <= payload })
	if m.steps[m.at] < payload {
		m.steps = slices.Insert(m.steps, m.at, payload)
	}
	m.lost, m.others, m.probing = 0, false, false
}

// TimedOut says that a datagram of size bytes, a probe or not, was not acknowledged in time.
func (m *MTU) TimedOut(size int, now time.Duration) {
	switch {
	case size > m.Payload():
		m.probeFailed(size, now)
		return
	case m.at == len(m.steps)-1 || size <= m.steps[m.at+1]:
		return // says nothing of the size
	}
	m.lost++
	if m.lost >= lostAlone || m.lost >= lostWithOthers && m.others {
		m.lower(m.fitStep(m.likely()))
		m.next = now + m.pause
	}
}

// likely is what probably passes where m.Payload does not: most links that are smaller than others are Ethernet.
func (m *MTU) likely() int {
	if next := m.steps[m.at+1]; next <= ethernet {
		return next
	}
	return ethernet
}

// probeFailed makes the next pause longer, unless the datagram is one of before the last step down.
func (m *MTU) probeFailed(size int, now time.Duration) {
	if m.probing && size == m.steps[m.at-1] {
		m.probing = false
		m.pause = min(2*m.pause, maxPause)
		m.next = now + m.pause
	}
}

// Arrived says that a datagram of size bytes, a probe or not, was acknowledged.
func (m *MTU) Arrived(size int, now time.Duration) {
	switch {
	case size > m.Payload():
		m.raise(size, now)
	case m.at < len(m.steps)-1 && size > m.steps[m.at+1]:
		m.lost, m.others = 0, false
	case m.lost > 0:
		m.others = true
	}
}

// raise goes up to the largest step that a datagram of size bytes has proved.
func (m *MTU) raise(size int, now time.Duration) {
	for m.at > 0 && m.steps[m.at-1] <= size {
		m.at--
		m.lost, m.others, m.probing = 0, false, false
		m.pause, m.next = firstPause, now+goodPause
	}
}

// Probe says whether a datagram of size bytes, more than Payload, should be sent now, to see whether it arrives:
// once, as a datagram of its own that nothing else depends on. Its fate is told by Arrived, TimedOut or TooBig; the
// next is asked for after a pause in any case.
func (m *MTU) Probe(now time.Duration) (size int, ok bool) {
	if m.at == 0 || now < m.next {
		return 0, false
	}
	m.probing = true
	m.next = now + m.pause
	return m.steps[m.at-1], true
}

// nextProbe is when Probe may have something to say; false: not until the size has gone down.
func (m *MTU) nextProbe() (at time.Duration, ok bool) { return m.next, m.at > 0 }
