package mpi

import (
	"fmt"
	"sync"
	"testing"
)

// TestWildcards: every message of many senders is received exactly once by one of several receivers, and those of a
// sender in order for each tag.
func TestWildcards(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		for _, tag := range []int{AnyTag, 4} {
			t.Run(fmt.Sprintf("ranks=%d/tag=%d", n, tag), func(t *testing.T) { wildcards(t, n, tag) })
		}
	}
}

func wildcards(t *testing.T, n, tag int) {
	const each = 300
	must(t, n, func(c *Comm) error {
		if c.Rank() != 0 {
			return everyWay(c, func(way int) error {
				for i := range each {
					if err := Send(c, []int{way, i}, 0, 4); err != nil {
						return err
					}
				}
				return nil
			})
		}
		var mu sync.Mutex
		seen := make(map[[3]int]int)
		left := each * (n - 1) * len(callers)
		err := everyWay(c, func(int) error {
			for {
				mu.Lock()
				left--
				done := left < 0
				mu.Unlock()
				if done {
					return nil
				}
				b := []int{0, 0}
				st, err := Recv(c, b, AnySource, tag)
				if err != nil {
					return err
				}
				if st.Tag != 4 || st.Source < 1 || st.Source >= n {
					return fmt.Errorf("status %+v", st)
				}
				mu.Lock()
				seen[[3]int{st.Source, b[0], b[1]}]++
				mu.Unlock()
			}
		})
		if len(seen) != each*(n-1)*len(callers) {
			return fmt.Errorf("%d different messages, want %d; %v", len(seen), each*(n-1)*len(callers), err)
		}
		return err
	})
}

// TestWildcardOrder: one receiver sees the messages of each sender in order.
func TestWildcardOrder(t *testing.T) {
	const n, each = 4, 500
	must(t, n, func(c *Comm) error {
		if c.Rank() != 0 {
			for i := range each {
				if err := Send(c, []int{i}, 0, i%3); err != nil {
					return err
				}
			}
			return nil
		}
		var next [n]int
		for i := range each * (n - 1) {
			b := []int{0}
			source := AnySource
			if i%5 == 4 && next[1+i%3] < each { // a receive without wildcards among them
				source = 1 + i%3
			}
			st, err := Recv(c, b, source, AnyTag)
			if err != nil {
				return err
			}
			if b[0] != next[st.Source] || st.Tag != b[0]%3 {
				return fmt.Errorf("from %d message %d with tag %d, want %d", st.Source, b[0], st.Tag, next[st.Source])
			}
			next[st.Source]++
		}
		return nil
	})
}

// TestWildcardOnSplit: the source of a wildcard is told by its rank in the communicator.
func TestWildcardOnSplit(t *testing.T) {
	const n = 5
	must(t, n, func(c *Comm) error {
		d, err := c.Split(0, -c.Rank()) // reversed
		if err != nil {
			return err
		}
		if d.Rank() != n-1-c.Rank() {
			return fmt.Errorf("rank %d became %d", c.Rank(), d.Rank())
		}
		if d.Rank() != 0 {
			return Send(d, []int{d.Rank()}, 0, 0)
		}
		for range n - 1 {
			b := []int{0}
			r, err := Irecv(d, b, AnySource, AnyTag)
			if err != nil {
				return err
			}
			st, err := r.Wait()
			if err != nil || st.Source != b[0] {
				return fmt.Errorf("source %d, it says %d: %v", st.Source, b[0], err)
			}
		}
		return d.Free()
	})
}
