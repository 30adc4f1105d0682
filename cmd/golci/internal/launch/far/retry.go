package far

import (
	"fmt"
	"strings"
	"time"
)

// lateSigns are in the messages of remote shells about a machine that is not there yet: its name is not known, or
// nobody takes the call. In small letters.
var lateSigns = []string{
	"could not resolve", "name or service not known", "temporary failure in name resolution", "no address associated",
	"connection refused", "no such host", "unknown host",
}

// isLate says that line, of a remote shell, tells of a machine that may be reached later.
func isLate(line string) bool {
	line = strings.ToLower(line)
	for _, sign := range lateSigns {
		if strings.Contains(line, sign) {
			return true
		}
	}
	return false
}

// noise is in lines that say nothing to the user. srun without a plug-in for binding complains when it is asked not to
// bind, --quiet or not.
const noise = "srun: cluster configuration lacks support for cpu binding"

// Pauses between two calls of a machine. Each is twice the one before.
const (
	firstPause = 250 * time.Millisecond
	mostPause  = 2 * time.Second
)

// quietTime is how long the machines are called without a word to the user.
const quietTime = 2 * time.Second

// callReport tells what becomes of the calls to a machine that does not come, once.
type callReport struct {
	spent time.Duration
	told  bool
}

// waitAfter notes a pause of d after a call that failed for the reason why. It returns what the user is to be told now,
// or "".
func (t *callReport) waitAfter(d time.Duration, host string, why error, limit time.Duration) string {
	t.spent += d
	if t.told || t.spent < quietTime {
		return ""
	}
	t.told = true
	return fmt.Sprintf("host %s is called again and again, for %v at most (-connect): %v", host, limit, why)
}

// retryPolicy says how long to wait for the next call of a machine that was not there.
type retryPolicy struct {
	limit time.Duration // for which the machine is called again; 0: it is called once
	spent time.Duration // waited so far
	next  time.Duration // the next pause
}

// nextPause is the time to wait before the next call. ok is false when the time is over.
func (p *retryPolicy) nextPause() (d time.Duration, ok bool) {
	if p.spent >= p.limit {
		return 0, false
	}
	d = min(max(p.next, firstPause), p.limit-p.spent)
	p.spent, p.next = p.spent+d, min(2*d, mostPause)
	return d, true
}
