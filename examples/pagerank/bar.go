package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const drawEvery = 100 * time.Millisecond

// terminal is standard error if that is a terminal, else nil.
func terminal() io.Writer {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return os.Stderr
	}
	return nil
}

// done is how far the iterations are, 0 to 1. The change shrinks by about the same factor each time.
func (r rule) done(rounds int64, change float64) float64 {
	if rounds == 0 {
		return 0
	}
	byChange := math.Log(max(change, r.tolerance)) / math.Log(r.tolerance)
	byRounds := float64(rounds) / float64(r.iterations)
	return min(1, max(0, byChange, byRounds))
}

// progress is what a bar shows. It is written by whoever does the work, and may be read at any time.
type progress struct {
	phase  atomic.Pointer[string] // what is done now, unless it is an iteration
	rounds atomic.Int64           // iterations so far
	change atomic.Uint64          // of the last one: bits of a float64
}

func (p *progress) enter(phase string) { p.phase.Store(&phase) }

func (p *progress) iterated(rounds int, change float64) {
	p.change.Store(math.Float64bits(change))
	p.rounds.Store(int64(rounds))
}

func (p *progress) text() string {
	if n := p.rounds.Load(); n > 0 {
		return fmt.Sprintf("iteration %d, change %.1e", n, math.Float64frombits(p.change.Load()))
	}
	if phase := p.phase.Load(); phase != nil {
		return *phase
	}
	return "starting"
}

// draw shows a bar on w, on a goroutine of its own, until the returned function is called. A slow terminal holds no
// thread up, because threads only store numbers. Without w it does nothing.
func (p *progress) draw(w io.Writer, r rule) (stop func()) {
	if w == nil {
		return func() {}
	}
	bar := progressbar.NewOptions(1000, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(40),
		progressbar.OptionSetDescription(p.text()), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
	_ = bar.RenderBlank() // only a picture, here and below
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(drawEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				_ = bar.Finish()
				return
			case <-tick.C:
				bar.Describe(p.text())
				_ = bar.Set(int(1000 * r.done(p.rounds.Load(), math.Float64frombits(p.change.Load()))))
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}
