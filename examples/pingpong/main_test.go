package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output is written to by all ranks; changed is told of it.
type output struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed func(all string)
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(b)
	if o.changed != nil {
		o.changed(o.buf.String())
	}
	return len(b), nil
}

func TestBounce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 8} {
		for _, o := range []options{{threads: 1, size: 0, count: 20}, {threads: 7, size: 8, count: 20}, {threads: 2, size: 100000, count: 3}} {
			t.Run(fmt.Sprintf("ranks=%d/threads=%d/size=%d", n, o.threads, o.size), func(t *testing.T) {
				var out output
				err := mpi.Run(n, func(c *mpi.Comm) error { return pingpong(context.Background(), c, o, &out) })
				if err != nil {
					t.Fatal(err)
				}
				got := out.buf.String()
				if want := fmt.Sprintf("%d pairs of ranks, %d threads each, %d bytes: ", n/2, o.threads, o.size); !strings.Contains(got, want) {
					t.Errorf("printed %q, want %q", got, want)
				}
				if idles := strings.Contains(got, "idles"); idles != (n%2 == 1) {
					t.Errorf("printed %q: a rank idles: %v", got, idles)
				}
			})
		}
	}
}

// A message of a wrong round, or of a wrong length, is an error that ends the job.
func TestBounceWrong(t *testing.T) {
	o := options{threads: 1, size: 8, count: 2}
	for name, reply := range map[string][]byte{"content": make([]byte, 8), "length": {0, 0}} {
		err := mpi.Run(2, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				return pingpong(context.Background(), c, o, &output{})
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			buf := make([]byte, 8)
			for range 2 {
				if _, err := mpi.Recv(c, buf, 0, 0); err != nil {
					return err
				}
				if err := mpi.Send(c, reply, 0, 0); err != nil {
					return err
				}
			}
			_, err := mpi.Recv(c, buf, 0, 1) // never sent
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "got a wrong message") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The end of one rank's context, of either side, ends a flood between all of its threads, and no message is lost on
// the way.
func TestFlood(t *testing.T) {
	for _, stopper := range []int{0, 1} {
		for _, size := range []int{0, 8, 70000} {
			t.Run(fmt.Sprintf("stopper=%d/size=%d", stopper, size), func(t *testing.T) {
				ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond) // counts while the job starts, too
				defer stop()
				var out output
				err := mpi.Run(3, func(c *mpi.Comm) error {
					mine := context.Background()
					if c.Rank() == stopper {
						mine = ctx
					}
					return pingpong(mine, c, options{threads: 5, size: size, count: 1, forever: true}, &out)
				})
				if err != nil {
					t.Fatal(err)
				}
				want := regexp.MustCompile(`rank 0 to 1: [1-9][0-9]* messages in all, [0-9]+ messages/s\n`)
				if got := out.buf.String(); !want.MatchString(got) || !strings.Contains(got, "rank 2 of 3 has no partner") {
					t.Errorf("printed %q", got)
				}
			})
		}
	}
}

// A flood prints its rate while it lasts.
func TestFloodReports(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	rate := regexp.MustCompile(`rank 0 to 1: [1-9][0-9]* messages/s\n`)
	out := output{changed: func(all string) {
		if rate.MatchString(all) {
			stop()
		}
	}}
	err := mpi.Run(2, func(c *mpi.Comm) error {
		return pingpong(ctx, c, options{threads: 2, size: 8, count: 1, forever: true}, &out)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFlags(t *testing.T) {
	good, err := parse([]string{"-threads", "3", "-size", "0", "-count", "9", "-forever"})
	if want := (options{threads: 3, size: 0, count: 9, forever: true}); err != nil || good != want {
		t.Errorf("got %+v, %v, want %+v", good, err, want)
	}
	for _, args := range []string{"-threads 0", "-threads 268435455", "-size -1", "-count 0", "extra"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
