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

// beginStep begins a step of at most d.
func beginStep(raw net.Conn, d time.Duration) limit {
	now := time.Now()
	_ = raw.SetDeadline(now.Add(d)) // fails on a closed connection only, as the next read does
	return limit{raw, now}
}

// endNow ends the step at once.
func (l limit) endNow() { _ = l.raw.SetDeadline(time.Unix(1, 0)) }

// liftLimit is called when the step is done in time, and end cannot be called any more.
func (l limit) liftLimit() { _ = l.raw.SetDeadline(time.Time{}) }

// explainEnd names the other side in the error of a step. If the time was over, it says what the other side had done
// last.
func (l limit) explainEnd(did string, rank int, addr netip.AddrPort, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank %d at %v %s, and has said nothing for %v: %w", rank, addr, did, time.Since(l.begun).Round(time.Millisecond), err)
	}
	return fmt.Errorf("rank %d at %v: %w", rank, addr, err)
}
