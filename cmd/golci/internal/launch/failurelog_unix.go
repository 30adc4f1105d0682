//go:build unix

package launch

import "sync"

// failure is a report of the PMI server on a rank.
type failure struct {
	kind       failureKind
	rank, code int // code is that of the end; of failFollows the rank that has died
	text       string
}

type failureKind uint8

const (
	failAbort   failureKind = iota // the rank has aborted the job
	failBarrier                    // others wait in a barrier for the rank, which has ended
	failAgreed                     // the rank ends as all have agreed
	failFollows                    // the rank knows that another one has died
)

// failureLog is where the server's goroutines note failures, perhaps under the server's lock and without waiting for
// anybody, before any rank is told. So when a rank has ended for a failure, that is in the failure log already.
type failureLog struct {
	news chan struct{} // has one in it when something has been noted

	mu   sync.Mutex // guards list; nothing is locked under it
	list []failure
}

func newFailureLog() *failureLog { return &failureLog{news: make(chan struct{}, 1)} }

func (n *failureLog) addFailure(f failure) {
	n.mu.Lock()
	n.list = append(n.list, f)
	n.mu.Unlock()
	select {
	case n.news <- struct{}{}:
	default: // whoever takes what it stands for takes this as well
	}
}

func (n *failureLog) takeFailures() []failure {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	return list
}
