package mpi

import (
	"os"
	"os/signal"
	"sync"
	"time"
)

// quitDumps has SIGQUIT write the dumps of all ranks of the process before Go ends it. A process has its signals
// once, so this is shared by its ranks; nothing listens while there is none.
var quitDumps quitter

type quitter struct {
	mu    sync.Mutex
	procs map[*Proc]struct{}
	sig   chan os.Signal // while procs is not empty
	gone  chan struct{}
}

// add has p dumped; what it returns undoes that.
func (q *quitter) add(p *Proc) (remove func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.procs == nil {
		q.procs = make(map[*Proc]struct{})
	}
	q.procs[p] = struct{}{}
	if q.sig == nil && quitSignal != nil {
		q.sig, q.gone = make(chan os.Signal, 1), make(chan struct{})
		signal.Notify(q.sig, quitSignal)
		go q.listen(q.sig, q.gone)
	}
	return func() { q.remove(p) }
}

func (q *quitter) remove(p *Proc) {
	q.mu.Lock()
	delete(q.procs, p)
	if len(q.procs) > 0 || q.sig == nil {
		q.mu.Unlock()
		return
	}
	sig, gone := q.sig, q.gone
	q.sig = nil
	signal.Stop(sig)
	q.mu.Unlock()
	close(sig)
	<-gone
}

// quitGrace is how long a rank lives on after its dump.
const quitGrace = 200 * time.Millisecond

func (q *quitter) listen(sig chan os.Signal, gone chan struct{}) {
	defer close(gone)
	if _, ok := <-sig; !ok {
		return
	}
	q.mu.Lock()
	for p := range q.procs {
		p.Dump(os.Stderr)
	}
	q.mu.Unlock()
	// The first rank to go takes the others' operations with it: they get the time to tell of theirs.
	time.Sleep(quitGrace)
	signal.Reset(quitSignal)
	quitAgain()
}
