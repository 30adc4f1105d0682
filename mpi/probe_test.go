package mpi

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestProbe(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			for i := range 30 {
				if err := Send(c, make([]int16, i*i*i), 1, i); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range 30 {
			st, err := c.Probe(AnySource, AnyTag)
			if err != nil {
				return err
			}
			n, err := Count[int16](st)
			if err != nil || st.Source != 0 || st.Tag != i || n != i*i*i {
				return fmt.Errorf("message %d: %+v %v", i, st, err)
			}
			if st2, ok, err := c.Iprobe(0, i); !ok || err != nil || st2 != st {
				return fmt.Errorf("probed again: %+v %v %v", st2, ok, err)
			}
			if _, err := Recv(c, make([]int16, n), st.Source, st.Tag); err != nil {
				return err
			}
		}
		if _, ok, err := c.Iprobe(AnySource, AnyTag); ok || err != nil {
			return fmt.Errorf("a message that nobody sent: %v", err)
		}
		if m, err := c.Improbe(AnySource, AnyTag); m != nil || err != nil {
			return fmt.Errorf("a message that nobody sent: %v", err)
		}
		return nil
	})
}

// TestMprobeRaces: many threads probe for any message, and each message is received by exactly one of them, whole.
func TestMprobeRaces(t *testing.T) {
	const each, n = 60, 4
	must(t, n, func(c *Comm) error {
		if c.Rank() != 0 {
			for i := range each {
				size := 1 + i%3*5000 // eager and rendezvous
				b := make([]int, size)
				b[0], b[size-1] = i, i
				if err := Ssend(c, b, 0, i); err != nil {
					return err
				}
			}
			return nil
		}
		var mu sync.Mutex
		left, seen := each*(n-1), make(map[[2]int]bool)
		return everyWay(c, func(way int) error {
			for {
				mu.Lock()
				left--
				mine := left >= 0
				mu.Unlock()
				if !mine {
					return nil
				}
				if err := takeOne(c, way, &mu, seen); err != nil {
					return err
				}
			}
		})
	})
}

func takeOne(c *Comm, way int, mu *sync.Mutex, seen map[[2]int]bool) error {
	m, err := probeSomehow(c, way)
	if err != nil {
		return err
	}
	st := m.Status()
	k, err := Count[int](st)
	if err != nil {
		return err
	}
	b := make([]int, k)
	if _, err := Mrecv(m, b); err != nil {
		return err
	}
	if b[0] != st.Tag || b[k-1] != st.Tag || k != 1+st.Tag%3*5000 {
		return fmt.Errorf("message %+v has %d and %d", st, b[0], b[k-1])
	}
	if _, err := Mrecv(m, b); !errors.Is(err, ErrRequest) {
		return fmt.Errorf("received twice: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if seen[[2]int{st.Source, st.Tag}] {
		return fmt.Errorf("message %+v came twice", st)
	}
	seen[[2]int{st.Source, st.Tag}] = true
	return nil
}

func probeSomehow(c *Comm, way int) (*Message, error) {
	if way == 0 {
		return c.Mprobe(AnySource, AnyTag)
	}
	for {
		m, err := c.Improbe(AnySource, AnyTag)
		if m != nil || err != nil {
			return m, err
		}
		if t := c.Proc().Threads().Current(); t != nil {
			t.Yield()
		}
	}
}

func TestMrecvTruncates(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		if err := Send(c, []int{1, 2}, 0, 0); err != nil {
			return err
		}
		m, err := c.Mprobe(0, AnyTag)
		if err != nil {
			return err
		}
		if _, err := Imrecv(m, []string{""}); !errors.Is(err, ErrType) {
			return err
		}
		_, err = Mrecv(m, one())
		return wants(ErrTruncate, err)
	})
}
