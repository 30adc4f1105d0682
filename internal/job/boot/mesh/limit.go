package mesh

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
)

// limit is the time that one step of a conversation may take on a connection.
type limit struct {
	raw   net.Conn
	begun time.Time
}

// beginStep sets the deadline of raw to d from now, for one step of the conversation: a write and its answer, say.
// The limit that it returns ends or lifts that deadline.
func beginStep(raw net.Conn, d time.Duration) limit {
	now := time.Now()
	_ = raw.SetDeadline(now.Add(d)) // fails on a closed connection only, as the next read does
	return limit{raw, now}
}

// endNow ends the step at once.
func (l limit) endNow() { _ = l.raw.SetDeadline(time.Unix(1, 0)) }

// liftLimit is called when the step is done in time, and endNow cannot be called any more.
func (l limit) liftLimit() { _ = l.raw.SetDeadline(time.Time{}) }

// explainEnd wraps the error err of a step with the rank and the address of the peer. After a timeout it adds did and
// how long the peer has been silent. did is a predicate of the peer, such as "has taken the call".
func (l limit) explainEnd(did string, rank int, addr netip.AddrPort, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank %d at %v %s, and has said nothing for %v: %w", rank, addr, did, time.Since(l.begun).Round(time.Millisecond), err)
	}
	return fmt.Errorf("rank %d at %v: %w", rank, addr, err)
}
