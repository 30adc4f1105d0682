package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/fult"
)

// quitDumps has SIGQUIT write reports of all ranks of the process, which then ends.
var quitDumps quitReporter

type quitReporter struct {
	mu    sync.Mutex
	ranks map[*Reporter]struct{}
	sig   chan os.Signal // while ranks is not empty
	gone  chan struct{}
}

// OnQuit makes SIGQUIT write the report of r, with those of the other ranks of the process, which then ends. What it
// returns undoes that.
func OnQuit(r *Reporter) (remove func()) { return quitDumps.addRank(r) }

func (q *quitReporter) addRank(r *Reporter) (remove func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ranks == nil {
		q.ranks = make(map[*Reporter]struct{})
	}
	q.ranks[r] = struct{}{}
	if q.sig == nil && quitSignal != nil {
		q.sig, q.gone = make(chan os.Signal, 1), make(chan struct{})
		signal.Notify(q.sig, quitSignal)
		go q.listenFor(q.sig, q.gone)
	}
	return func() { q.removeRank(r) }
}

func (q *quitReporter) removeRank(r *Reporter) {
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

func (q *quitReporter) listenFor(sig chan os.Signal, gone chan struct{}) {
	defer close(gone)
	if _, ok := <-sig; !ok {
		return
	}
	q.tellAll(os.Stderr, fult.TakeStacks)
	if os.Getenv("GOTRACEBACK") == "crash" { // the user wants a core dump
		signal.Reset(quitSignal)
		quitAgain()
		return
	}
	os.Exit(quitCode)
}

// sorted are the ranks, by number. q.mu is held.
func (q *quitReporter) sorted() []*Reporter {
	return slices.SortedFunc(maps.Keys(q.ranks), func(a, b *Reporter) int { return a.Job.Rank - b.Job.Rank })
}

// askOthers is what the ranks learn from others, all at once. No lock is held while they ask.
func (q *quitReporter) askOthers() [][]byte {
	q.mu.Lock()
	ranks := q.sorted()
	q.mu.Unlock()
	out := make([][]byte, len(ranks))
	var all sync.WaitGroup
	for i, r := range ranks {
		all.Go(func() {
			if text := r.askText(); text != "" {
				out[i] = fmt.Appendf(nil, "golci: rank %d of %d: after asking others\n%s", r.Job.Rank-r.Job.First, r.Job.Mates,
					text)
			}
		})
	}
	all.Wait()
	return out
}

// tellAll writes what the ranks have to tell: what waits, then what they learn from others, and at last what needs the
// stacks of all goroutines. take is called once at most. The launcher, which may be about to end the ranks, hears of
// each step.
func (q *quitReporter) tellAll(w io.Writer, take func() *fult.Stacks) {
	grace := time.After(quitGrace)
	q.eachRank(func(r *Reporter) {
		r.Job.Reporting()
		write(w, r.reportWaits())
	})
	// The first rank to go takes the others' operations with it: they get the time to tell of theirs.
	for _, b := range q.askOthers() {
		write(w, b)
	}
	take = sync.OnceValue(take)
	q.eachRank(func(r *Reporter) {
		r.Job.Reporting()
		write(w, r.whereThreadsRun(take))
	})
	q.eachRank(func(r *Reporter) {
		if how := r.How; take != nil && (how == dumpStacks || how == dumpAll) {
			r.Job.Reporting()
			b := bytes.NewBufferString(r.head() + "stacks of goroutines and threads\n\n")
			writeStacks(b, take())
			write(w, b.Bytes())
			take = nil // those of all ranks have been written
		}
	})
	<-grace
}

// eachRank calls f for each rank, by number. None is let go of meanwhile.
func (q *quitReporter) eachRank(f func(r *Reporter)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.sorted() {
		f(r)
	}
}
