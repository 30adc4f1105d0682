// Package pendingtest is for tables of calls that may wait. Each call of a table is ended from outside in every way
// there is, and is named in reports. A table has all exported functions of its package that may wait.
package pendingtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/golci/golci/internal/pending"
)

// Call is a call that waits.
type Call struct {
	Name  string // of the exported function or method
	Shows string // what reports call it
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

// Named waits until a dump has a line with the name of each call: a blocking collective gives its name once it has spun
// in vain.
func Named(dump func(w io.Writer), calls []*Call) {
	for _, x := range calls {
		for !x.named(dump) {
			runtime.Gosched()
		}
	}
}

func (x *Call) named(dump func(w io.Writer)) bool {
	var b bytes.Buffer
	dump(&b)
	return strings.Contains(b.String(), x.Shows)
}
