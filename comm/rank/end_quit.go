package rank

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/internal/settings"
)

// quitDumps has SIGQUIT write reports of all ranks of the process, which then ends.
var quitDumps quitter

type quitter struct {
	mu    sync.Mutex
	ranks map[*Rank]struct{}
	sig   chan os.Signal // while ranks is not empty
	gone  chan struct{}
}

// add has r report; what it returns undoes that.
func (q *quitter) add(r *Rank) (remove func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ranks == nil {
		q.ranks = make(map[*Rank]struct{})
	}
	q.ranks[r] = struct{}{}
	if q.sig == nil && quitSignal != nil {
		q.sig, q.gone = make(chan os.Signal, 1), make(chan struct{})
		signal.Notify(q.sig, quitSignal)
		go q.listen(q.sig, q.gone)
	}
	return func() { q.remove(r) }
}

func (q *quitter) remove(r *Rank) {
	q.mu.Lock()
	delete(q.ranks, r)
	if len(q.ranks) > 0 || q.sig == nil {
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

const (
	quitGrace = 200 * time.Millisecond // of a rank after its report
	quitCode  = 2                      // of a Go program that SIGQUIT ends
)

func (q *quitter) listen(sig chan os.Signal, gone chan struct{}) {
	defer close(gone)
	if _, ok := <-sig; !ok {
		return
	}
	for _, b := range q.reports() {
		_, _ = os.Stderr.Write(b) // there is nobody to tell
	}
	// The first rank to go takes the others' operations with it: they get the time to tell of theirs.
	grace := time.After(quitGrace)
	for _, b := range q.asked() {
		_, _ = os.Stderr.Write(b)
	}
	<-grace
	if os.Getenv("GOTRACEBACK") == "crash" { // the user wants a core dump
		signal.Reset(quitSignal)
		quitAgain()
		return
	}
	os.Exit(quitCode)
}

// sorted are the ranks, by number. q.mu is held.
func (q *quitter) sorted() []*Rank {
	return slices.SortedFunc(maps.Keys(q.ranks), func(a, b *Rank) int { return a.job.Rank - b.job.Rank })
}

// asked is what the ranks learn from others, all at once. No lock is held while they ask.
func (q *quitter) asked() [][]byte {
	q.mu.Lock()
	ranks := q.sorted()
	q.mu.Unlock()
	out := make([][]byte, len(ranks))
	var all sync.WaitGroup
	for i, r := range ranks {
		all.Go(func() {
			if text := r.asked(); text != "" {
				out[i] = fmt.Appendf(nil, "golci: rank %d of %d: after asking others\n%s", r.job.Rank-r.job.First, r.job.Mates,
					text)
			}
		})
	}
	all.Wait()
	return out
}

// reports gives what the ranks have to tell, piece by piece: stacks if asked for, then calls.
func (q *quitter) reports() (out [][]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var stacks bytes.Buffer
	for r := range q.ranks {
		if settings.Dump.Get(r.opts.values) == "stacks" && stacks.Len() == 0 {
			fmt.Fprintf(&stacks, "golci: rank %d of %d: stacks of goroutines and threads\n\n", r.job.Rank-r.job.First,
				r.job.Mates)
			writeStacks(&stacks)
			out = append(out, stacks.Bytes())
		}
	}
	for _, r := range q.sorted() {
		var b bytes.Buffer
		r.Dump(&b)
		out = append(out, b.Bytes())
	}
	return out
}
