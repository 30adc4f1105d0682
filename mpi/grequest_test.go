package mpi

import (
	"errors"
	"fmt"
	"testing"
)

var errProgram = errors.New("of the program")

// TestGrequest has generalized requests in waits beside others, their functions, and their ends (13.2).
func TestGrequest(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		var queried, freed int
		told := []bool{}
		start := func(fail error) Request {
			return c.Proc().Grequest(Grequest{
				Query:  func() (Status, error) { queried++; return NewStatus(3, 4, 8, queried == 2), fail },
				Free:   func() error { freed++; return nil },
				Cancel: func(complete bool) error { told = append(told, complete); return errProgram },
			})
		}
		r := start(nil)
		if _, ok, err := r.Test(); ok || err != nil || queried != 0 {
			return fmt.Errorf("done before its end: %w", err)
		}
		if err := r.Cancel(); !errors.Is(err, errProgram) {
			return fmt.Errorf("Cancel: %w", err)
		}
		in := []int{0}
		recv, err := Irecv(c, in, 0, 0)
		if err != nil {
			return err
		}
		copied := r
		done := make(chan error)
		go func() { done <- copied.Complete() }()
		list := []Request{recv, r}
		i, st, err := Waitany(list)
		if e := <-done; e != nil {
			return fmt.Errorf("Complete: %w", e)
		}
		if err != nil || i != 1 || st.Source != 3 || st.Tag != 4 || st.Bytes() != 8 || st.Cancelled() || !list[1].Null() {
			return fmt.Errorf("%d: %+v, %w", i, st, err)
		}
		if queried != 1 || freed != 1 || len(told) != 1 || told[0] {
			return fmt.Errorf("%d queries, %d frees, %v", queried, freed, told)
		}
		if err := errors.Join(Send(c, in, 0, 0), Waitall(list, nil)); err != nil {
			return err
		}
		if err := copied.Complete(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("complete twice: %w", err)
		}
		if err := list[0].Complete(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a null request: %w", err)
		}

		r = start(errProgram)
		if err := r.Complete(); err != nil {
			return err
		}
		if err := r.Cancel(); !errors.Is(err, errProgram) || len(told) != 2 || !told[1] {
			return fmt.Errorf("Cancel of what is done: %w, %v", err, told)
		}
		if st, ok, err := r.GetStatus(); !ok || !errors.Is(err, errProgram) || !st.Cancelled() || freed != 1 {
			return fmt.Errorf("GetStatus: %+v, %t, %w", st, ok, err)
		}
		if _, err := r.Wait(); !errors.Is(err, errProgram) || freed != 2 || queried != 3 {
			return fmt.Errorf("Wait: %w", err)
		}

		r = start(nil)
		copied = r
		if err := r.Free(); err != nil || !r.Null() || freed != 2 {
			return fmt.Errorf("Free: %w", err)
		}
		if err := copied.Complete(); err != nil || freed != 3 {
			return fmt.Errorf("after Free: %w", err)
		}
		r = start(nil)
		if err := errors.Join(r.Complete(), r.Free()); err != nil || freed != 4 || queried != 3 {
			return fmt.Errorf("Free of what is done: %w", err)
		}
		none := c.Proc().Grequest(Grequest{})
		if err := errors.Join(none.Cancel(), none.Complete()); err != nil {
			return err
		}
		st, err = none.Wait()
		if st.Source != AnySource || st.Tag != AnyTag {
			return fmt.Errorf("without functions: %+v", st)
		}
		return err
	})
}
