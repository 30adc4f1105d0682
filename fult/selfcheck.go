package fult

import (
	"errors"
	"fmt"
	"go/version"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// Coroutine threads need more of iter.Pull than its documentation promises. The script below exercises each need:
//
//   - next and yield of a coroutine may be called by any goroutine of the worker, as long as they alternate. The caller
//     rests, and the goroutine that rested in that place runs.
//   - All of this works on a locked OS thread, for coroutines that were made on it, also from within a coroutine.
//   - A coroutine that returns resumes the goroutine that rests in its place.
//   - Goexit in a coroutine spares a goroutine that came to its place by yield.
//   - A deferred function may switch while its goroutine panics.
//   - The identity of a goroutine (arch.G) stays the same across switches.
//
// The trial finds a panic of iter, a wrong order, and a switch that does not come back. It cannot find a throw of the
// runtime, which ends the process, and which nothing can recover. The runtime throws today if a coroutine is resumed on
// another OS thread or with another lock count than at its creation. A stricter rule of a later release would probably
// throw, too. So checkRelease refuses releases newer than the newest tested one, without a trial. A child process could
// survive a throw, but its executable might be any program that uses golci as a library. Faults that need millions of
// switches, or the collector at the same time, are left to the tests.

// newestTested is the newest release of Go that all tests have passed on. Tests set it by the linker's flag -X.
var newestTested = "go1.27"

// trialLimit is how long the trial may take; it needs some microseconds.
var trialLimit = 10 * time.Second

// selfCheck says why threads cannot be coroutines; nil if they can. It runs once in a process. Tests replace it.
var selfCheck = sync.OnceValue(func() error {
	if err := checkRelease(runtime.Version()); err != nil {
		return err
	}
	if err := tryCoroutines(); err != nil {
		return fmt.Errorf("%s fails the self-check of coroutines: %w", runtime.Version(), err)
	}
	return nil
})

var warnOnce sync.Once

// warnGoroutines tells once in a process that threads are not coroutines.
func warnGoroutines(why error) {
	warnOnce.Do(func() { fmt.Fprintf(os.Stderr, "golci: threads are goroutines, not coroutines: %v\n", why) })
}

// checkRelease refuses releases of Go that are newer than newestTested, and those whose number cannot be read.
func checkRelease(release string) error {
	number, _, _ := strings.Cut(release, " ") // experiments follow
	switch lang := version.Lang(number); {
	case lang == "":
		return fmt.Errorf("%s is no release of Go; %s is the newest tested", release, newestTested)
	case version.Compare(lang, newestTested) > 0:
		return fmt.Errorf("%s is newer than %s, the newest tested", release, newestTested)
	}
	return nil
}

// Acts of the script. The letter after each names the goroutine that runs next.
const (
	actSwitch = '-'
	actReturn = 'x' // the loop is next
	actGoexit = 'g' // the loop is next
	actPanic  = 'p' // switch in a deferred function, and recover afterwards
)

// script lets L, the worker's loop, and the coroutines a to d change places. Goroutines rest by next and by yield, in
// their own places and in those of others. A coroutine ends while a goroutine that is not the intended one rests in its
// place: once one that came by next, once one that came by yield.
const script = "-a-b-a-L-b-a-L-b-a-cpa-cxL-b-axL-bgL-dgL"

// part is one coroutine of a trial.
type part struct {
	fiber
	coroutine coroutine
}

// trial is one run of the script. Its worker has no threads. The goroutine that runs owns all fields but verdict.
type trial struct {
	w       Worker
	parts   [4]part // a to d
	at      int     // how much of the script has been played
	verdict chan error
}

// tryCoroutines plays the script. After an error its goroutines stay where they are: to run on could end in a throw.
func tryCoroutines() error {
	t := &trial{verdict: make(chan error, 1+len(trial{}.parts))}
	go t.beginTrial()
	timer := time.NewTimer(trialLimit)
	defer timer.Stop()
	select {
	case err := <-t.verdict:
		return err
	case <-timer.C:
		return fmt.Errorf("a switch has not come back within %v", trialLimit)
	}
}

// beginTrial plays the part of the worker's loop.
func (t *trial) beginTrial() {
	runtime.LockOSThread()
	played := false
	defer func() {
		if v := recover(); v != nil {
			t.verdict <- fmt.Errorf("%v", v)
		} else if !played {
			t.verdict <- errors.New("a worker ended by Goexit of a coroutine")
		}
	}()
	t.w.curG = arch.G()
	t.w.loop.g, t.w.cur = t.w.curG, &t.w.loop
	for i := range t.parts {
		p := &t.parts[i]
		t.w.pullCoroutine(&p.fiber, &p.coroutine, func() { t.enterPart(p) })
	}
	t.playScript(&t.w.loop, nil)
	played = true
	runtime.UnlockOSThread()
	t.verdict <- nil
}

// enterPart is what the coroutine of p runs.
func (t *trial) enterPart(p *part) {
	defer func() {
		if v := recover(); v != nil {
			t.verdict <- fmt.Errorf("%v", v)
			select {}
		}
	}()
	t.expectTurn(&p.fiber)
	t.playScript(&p.fiber, &p.coroutine)
}

// playScript follows the script as me, until it ends or me does.
func (t *trial) playScript(me *fiber, own *coroutine) {
	for t.at < len(script) {
		act := script[t.at]
		t.at += 2
		switch to := t.findNamed(script[t.at-1]); act {
		case actReturn:
			t.w.leaveCoroutine()
			return
		case actGoexit:
			t.w.exitOnHelper(me, own)
			t.w.leaveCoroutine()
			runtime.Goexit()
		case actPanic:
			t.switchInPanic(me, to)
		case actSwitch:
			t.w.transferTo(me, to)
		}
		t.expectTurn(me)
	}
}

// findNamed returns the one that has the letter.
func (t *trial) findNamed(letter byte) *fiber {
	if letter == 'L' {
		return &t.w.loop
	}
	return &t.parts[letter-'a'].fiber
}

// expectTurn panics unless the script has named me to run now.
func (t *trial) expectTurn(me *fiber) {
	letter := script[t.at-1]
	if t.findNamed(letter) != me || t.w.cur != me || arch.G() != me.g || !isG(&t.w.curG) {
		panic(fmt.Sprintf("after step %d of %d another goroutine runs than %c", t.at/2, len(script)/2, letter))
	}
}

func (t *trial) switchInPanic(me, to *fiber) {
	defer func() {
		t.w.transferTo(me, to)
		_ = recover()
	}()
	panic("part of the script")
}
