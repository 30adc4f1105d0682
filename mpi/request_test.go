package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestWaitallStatuses(t *testing.T) {
	const k = 64
	must(t, 2, func(c *Comm) error {
		peer := 1 - c.Rank()
		in := make([][1]int, k)
		rs := make([]Request, 2*k)
		for i := range k {
			var err error
			if rs[i], err = Irecv(c, in[i:i+1], peer, i); err != nil {
				return err
			}
		}
		for i := range k {
			var err error
			if rs[k+i], err = Isend(c, []int{c.Rank()*1000 + i}, peer, i); err != nil {
				return err
			}
		}
		sts := make([]Status, 2*k)
		if err := Waitall(rs, sts); err != nil {
			return err
		}
		for i := range k {
			if in[i][0] != peer*1000+i || sts[i].Tag != i || sts[i].Source != peer || !rs[i].Null() {
				return fmt.Errorf("%d: %d, %+v", i, in[i][0], sts[i])
			}
			if sts[k+i] != empty {
				return fmt.Errorf("send %d: %+v", i, sts[k+i])
			}
		}
		return Waitall(rs, nil) // null requests
	})
}

// TestWait: the function is the method.
func TestWait(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			return Send(c, []int{42}, 1, 5)
		}
		var in [1]int
		r, err := Irecv(c, in[:], 0, AnyTag)
		if err != nil {
			return err
		}
		st, err := Wait(&r)
		if err != nil || st.Source != 0 || st.Tag != 5 || in[0] != 42 || !r.Null() {
			return fmt.Errorf("%d, %+v, null %t, %w", in[0], st, r.Null(), err)
		}
		return nil
	})
}

// TestWaitanyWaitsome receives each of many messages once, whichever comes.
func TestWaitanyWaitsome(t *testing.T) {
	take := map[string]func(rs []Request) ([]int, error){
		"any": func(rs []Request) ([]int, error) {
			i, _, err := Waitany(rs)
			return []int{i}, err
		},
		"some": func(rs []Request) ([]int, error) {
			is, _, err := Waitsome(rs)
			return is, err
		},
		"testany": func(rs []Request) ([]int, error) {
			i, _, ok, err := Testany(rs)
			if !ok {
				return nil, err
			}
			return []int{i}, err
		},
		"testsome": func(rs []Request) ([]int, error) {
			is, _, err := Testsome(rs)
			return is, err
		},
		"watched": func(rs []Request) ([]int, error) {
			for i := range rs {
				if !rs[i].Null() {
					rs[i].Done()
					break
				}
			}
			i, _, err := Waitany(rs)
			return []int{i}, err
		},
	}
	for name, f := range take {
		t.Run(name, func(t *testing.T) {
			must(t, 2, func(c *Comm) error {
				return everyWay(c, func(way int) error { return takeAll(c, way*100, f) })
			})
		})
	}
}

func takeAll(c *Comm, base int, take func(rs []Request) ([]int, error)) error {
	const k = 20
	if c.Rank() == 0 {
		for i := k - 1; i >= 0; i-- {
			if err := Send(c, []int{i}, 1, base+i); err != nil {
				return err
			}
		}
		return nil
	}
	in := make([][1]int, k)
	rs := make([]Request, k)
	for i := range rs {
		var err error
		if rs[i], err = Irecv(c, in[i:i+1], 0, base+i); err != nil {
			return err
		}
	}
	var got []int
	for len(got) < k {
		is, err := take(rs)
		if err != nil {
			return err
		}
		for _, i := range is {
			if in[i][0] != i {
				return fmt.Errorf("request %d has %d", i, in[i][0])
			}
		}
		got = append(got, is...)
		if len(is) == 0 {
			c.Proc().Server().Poll()
		}
	}
	slices.Sort(got)
	for i, x := range got {
		if i != x {
			return fmt.Errorf("indices %v", got)
		}
	}
	if i, st, err := Waitany(rs); i != Undefined || st != empty || err != nil {
		return fmt.Errorf("waitany of null requests: %d %+v %v", i, st, err)
	}
	if is, sts, err := Waitsome(rs); is != nil || sts != nil || err != nil {
		return fmt.Errorf("waitsome of null requests: %v %v %v", is, sts, err)
	}
	return nil
}

func TestTestall(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			if _, err := Recv(c, []byte{}, 1, 0); err != nil { // until rank 1 has seen that it is not done
				return err
			}
			return errors.Join(Send(c, []int{1}, 1, 1), Send(c, []int{2}, 1, 2))
		}
		a, b := []int{0}, []int{0}
		ra, err := Irecv(c, a, 0, 1)
		if err != nil {
			return err
		}
		rb, err := Irecv(c, b, 0, 2)
		if err != nil {
			return err
		}
		rs := []Request{ra, rb}
		if ok, err := Testall(rs, nil); ok || err != nil {
			return fmt.Errorf("done before anything was sent: %v", err)
		}
		if _, ok, err := Test(&rs[0]); ok || err != nil {
			return fmt.Errorf("done before anything was sent: %v", err)
		}
		if err := Send(c, []byte{}, 0, 0); err != nil {
			return err
		}
		sts := make([]Status, 2)
		for {
			ok, err := Testall(rs, sts)
			if err != nil {
				return err
			}
			if ok {
				break
			}
			if rs[0].Null() || rs[1].Null() {
				return errors.New("Testall used up a request while the other was pending")
			}
		}
		if a[0] != 1 || b[0] != 2 || sts[1].Tag != 2 {
			return fmt.Errorf("%v %v %+v", a, b, sts)
		}
		return nil
	})
}

func TestWaitallErrors(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := errors.Join(Send(c, []int{1, 2}, 0, 0), Send(c, []int{3}, 0, 1)); err != nil {
			return err
		}
		in, in2 := []int{0}, []int{0}
		a, err := Irecv(c, in, 0, 0)
		if err != nil {
			return err
		}
		b, err := Irecv(c, in2, 0, 1)
		if err != nil {
			return err
		}
		if err := Waitall([]Request{b, a}, nil); !errors.Is(err, ErrTruncate) || in2[0] != 3 {
			return fmt.Errorf("%v, %v", err, in2)
		}
		return nil
	})
}

func TestRequestMisuse(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		r, err := Irecv(c, []int{0}, 0, 0)
		if err != nil {
			return err
		}
		twin := r
		if err := Send(c, []int{1}, 0, 0); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		if st, err := r.Wait(); err != nil || st != empty || !r.Null() {
			return fmt.Errorf("second wait: %+v %v", st, err)
		}
		third := twin
		if _, err := twin.Wait(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a copy's wait: %v", err)
		}
		if _, ok, err := third.Test(); !ok || !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a copy's test: %v %v", ok, err)
		}
		var null Request
		if st, ok, err := null.Test(); !ok || err != nil || st != empty {
			return fmt.Errorf("a null request's test: %v %v", ok, err)
		}
		if err := null.Cancel(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a null request's cancel: %v", err)
		}
		return nil
	})
}
