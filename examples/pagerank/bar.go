package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// drawEvery is the time between two drawings of the bar.
const drawEvery = 100 * time.Millisecond

// terminal is standard error if that is a terminal, else nil.
func terminal() io.Writer {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return os.Stderr
	}
	return nil
}

// done is how far the iterations are, 0 to 1. The change shrinks by about the same factor each time, so its logarithm tells.
func (r rule) done(rounds int64, change float64) float64 {
	if rounds == 0 {
		return 0
	}
	byChange := math.Log(max(change, r.tolerance)) / math.Log(r.tolerance)
	byRounds := float64(rounds) / float64(r.iterations)
	return min(1, max(0, byChange, byRounds))
}

// draw shows a bar on w, on a goroutine of its own, until the returned function is called. A slow terminal holds no thread up,
// because threads only store numbers. Without w it does nothing.
func (s *solver) draw(w io.Writer) (stop func()) {
	if w == nil {
		return func() {}
	}
	bar := progressbar.NewOptions(1000, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(40),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
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
				rounds, change := s.shown.rounds.Load(), math.Float64frombits(s.shown.change.Load())
				bar.Describe(fmt.Sprintf("iteration %d, change %.1e", rounds, change))
				_ = bar.Set(int(1000 * s.done(rounds, change)))
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}
