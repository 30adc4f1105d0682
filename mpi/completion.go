package mpi

import (
	"context"
	"iter"
)

// Result is how an operation has ended.
type Result struct {
	Status Status
	Err    error
}

// Completions gives the index and the result of each of rs as it is done, in the order in which that is found. It waits
// in between as Waitany does, and may switch threads. It ends when all of rs are null or inactive. Requests that are
// left when the loop is left stay as they are. Where the caller must not wait, it gives the index Undefined with the
// error once, and ends.
func Completions(rs []Request) iter.Seq2[int, Result] {
	return func(yield func(int, Result) bool) {
		for {
			i, st, err := waitany(context.Background(), "Completions", rs)
			if i == Undefined && err == nil {
				return
			}
			if !yield(i, Result{st, err}) || i == Undefined {
				return
			}
		}
	}
}

// Then has f be called with what a wait for r gives, once r is done, on a goroutine of its own that waits in the
// caller's place. It does not block. r becomes null; of a persistent request the present operation is waited for, and r
// must not be used before f has been called. Of a null request f gets an empty status. Copies of r must not be used any
// more. A panic of f ends the program. Finalize does not wait for f: a program that needs f to be over must wait itself.
func (r *Request) Then(f func(Status, error)) { go thenOf(r, "Then")(f) }

// ThenInThread is Then on a light-weight thread of rank p. A thread costs less than a goroutine that waits. f may
// communicate, and a panic of f ends the job: see Proc.Go. Errors are those of Proc.Go: r is then as before, and f is
// not called.
func (r *Request) ThenInThread(p *Proc, f func(Status, error)) error {
	was := *r
	run := thenOf(r, "ThenInThread")
	if _, err := p.Go(func() { run(f) }); err != nil {
		*r = was
		return err
	}
	return nil
}

// thenOf takes the operation of r. What it returns waits for that, and calls a function with the outcome.
func thenOf(r *Request, what string) func(f func(Status, error)) {
	var own Request
	if r != nil {
		own = *r
		if !r.core().Lasts() {
			*r = Request{}
		}
	}
	return func(f func(Status, error)) { f(status(own.core().Wait(what))) }
}
