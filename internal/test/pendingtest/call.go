// Package pendingtest is for tables of calls that may wait. Each call of a table is ended from outside in every way
// there is, and is named in reports. A table has all exported functions of its package that may wait.
package pendingtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/golci/golci/internal/observe/pending"
)

// Call is a call that waits.
type Call struct {
	Name  string // of the exported function or method
	Shows string // what reports call it
	On    string // its communicator, where reports tell that; it must not contain names of functions
	Do    func() error
	// Mine tells what may be of the call, of all that pends. nil: what has its name in reports.
	Mine func(o *pending.Op) bool

	err  error         // of Do, once done is closed
	done chan struct{} // made by Begin
}

// listed counts what may be of the call.
func (x *Call) listed(reg *pending.Registry) (n int) {
	reg.Each(func(o *pending.Op) {
		if !o.Unexpected() && (o.Call == x.Shows || x.Mine != nil && x.Mine(o)) {
			n++
		}
	})
	return n
}

// Begin makes all calls in goroutines, one after the other, and returns when all of them wait.
func Begin(reg *pending.Registry, calls []*Call) error {
	for _, x := range calls {
		before := x.listed(reg)
		x.done = make(chan struct{})
		go func() {
			defer close(x.done)
			x.err = x.Do()
		}()
		for x.listed(reg) <= before {
			select {
			case <-x.done:
				return fmt.Errorf("%s does not wait: %w", x.Name, x.err)
			default:
				runtime.Gosched()
			}
		}
	}
	return nil
}

// ErrOther marks an error that Ended or Named did not want.
var ErrOther = errors.New("not that error")

// Ended waits for all calls, and tells which have not ended with one of want.
func Ended(calls []*Call, want ...error) (err error) {
	for _, x := range calls {
		<-x.done
		if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(x.err, w) }) {
			err = errors.Join(err, fmt.Errorf("%s: want %v: %w", x.Name, want, errors.Join(x.err, ErrOther)))
		}
	}
	return err
}

// tellAfter is the number of dumps after which Named tells which name it waits for.
const tellAfter = 10_000

// Named waits until a dump has a line that begins with the name of each call: a blocking collective gives its name
// once it has spun in vain.
func Named(dump func(w io.Writer), calls []*Call) {
	for _, x := range calls {
		for tries := 1; !x.named(dump); tries++ {
			if tries == tellAfter {
				fmt.Fprintf(os.Stderr, "no line yet for %s: %s on %s\n", x.Name, x.Shows, x.On)
				dump(os.Stderr)
			}
			runtime.Gosched()
		}
	}
}

func (x *Call) named(dump func(w io.Writer)) bool {
	var b bytes.Buffer
	dump(&b)
	for line := range strings.Lines(b.String()) {
		if x.isNamedBy(line) {
			return true
		}
	}
	return false
}

// who is the beginning of a line that tells how many make a call.
var who = regexp.MustCompile(`^ *(thread \S+: |\d+ threads: |\d+ times: )?`)

// startsWord matches what goes on with the name before it.
var startsWord = regexp.MustCompile(`^\w`)

func (x *Call) isNamedBy(line string) bool {
	rest, ok := strings.CutPrefix(line[len(who.FindString(line)):], x.Shows)
	if ok && x.On != "" {
		rest, ok = strings.CutPrefix(rest, " on "+x.On)
	}
	return ok && !startsWord.MatchString(rest)
}
