package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/invariants"
)

// sizes that no process can have, but a peer may tell.
var huge = []int{1<<46 + 8, 1 << 60, 1<<62 + 3}

// claimed is a buffer that claims to have n bytes. Nobody reads it.
//
//go:nocheckptr
func claimed(n int) []byte { return unsafe.Slice(new(byte), n) }

// takesAll are the ways to receive a message of any length, each with tag.
var takesAll = map[string]func(c *Comm, tag int) error{
	"RecvAlloc":          func(c *Comm, tag int) error { return third(RecvAlloc[byte](c, 0, tag)) },
	"RecvAlloc of words": func(c *Comm, tag int) error { return third(RecvAlloc[[3]uint64](c, 0, tag)) },
	"RecvAlloc of any":   func(c *Comm, tag int) error { return third(RecvAlloc[byte](c, AnySource, tag)) },
	"RecvAlloc in a view": func(c *Comm, tag int) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return third(RecvAlloc[byte](c.WithContext(ctx), 0, tag))
	},
	"RecvValue": func(c *Comm, tag int) error { return third(RecvValue[string](c, 0, tag)) },
	"IprobeValue": func(c *Comm, tag int) error {
		for {
			_, _, ok, err := IprobeValue[string](c, 0, tag)
			if ok || err != nil {
				return err
			}
		}
	},
}

// TestHugeMessage: a message of more bytes than a process can have gives ErrMemory at its receiver, with source, tag
// and sizes. Its sender goes on, and so do the messages after it.
func TestHugeMessage(t *testing.T) {
	if invariants.Race {
		t.Skip("checkptr, which comes with the race detector, refuses the slices that the sender claims to have")
	}
	for name, take := range takesAll {
		t.Run(name, func(t *testing.T) {
			must(t, 2, func(c *Comm) error {
				for i, n := range huge {
					if c.Rank() == 0 {
						if err := errors.Join(Send(c, claimed(n), 1, i), SendValue(c, "next", 1, i)); err != nil {
							return err
						}
						continue
					}
					err := take(c, i)
					var grant *conduit.GrantError
					if !errors.Is(err, ErrMemory) || !errors.As(err, &grant) || grant.Asked != int64(n) {
						return fmt.Errorf("%d bytes: %w", n, errors.Join(errors.New("not ErrMemory"), err))
					}
					for _, part := range []string{
						strings.Fields(name)[0], "rank 1 of 2", "rank 0",
						fmt.Sprint("tag ", i), fmt.Sprint(n, " bytes"),
					} {
						if !strings.Contains(err.Error(), part) {
							return fmt.Errorf("%q is not in %w", part, err)
						}
					}
					if s, _, err := RecvValue[string](c, 0, i); err != nil || s != "next" {
						return fmt.Errorf("then %q, %w", s, err)
					}
				}
				return nil
			}, With(settings.Check.Env(), "off")) // what is checked is read
		})
	}
}

// liar is a collective in which one rank tells a number that cannot be right.
type liar struct {
	name   string
	liar   int // the rank
	finds  int // the rank that notices, -1 for all others
	lie    func(c *Comm, n int64) error
	honest func(c *Comm) error
}

var liars = []liar{
	{
		"BcastValue", 0, -1,
		func(c *Comm, n int64) error { return errors.Join(Bcast(c, []int64{n}, 0), Bcast(c, []byte{}, 0)) },
		func(c *Comm) error { return second(BcastValue(c, "", 0)) },
	},
	{
		"GatherValue", 1, 0,
		func(c *Comm, n int64) error {
			return errors.Join(Gather(c, []int64{n}, nil, 0), Gatherv(c, []byte{}, nil, nil, nil, 0))
		},
		func(c *Comm) error { return second(GatherValue(c, "own", 0)) },
	},
	{"AllgatherValue", 2, -1, lieAtAllgather, func(c *Comm) error { return second(AllgatherValue(c, "own")) }},
	{"AllgathervAlloc", 2, -1, lieAtAllgather, func(c *Comm) error { return third(AllgathervAlloc(c, []byte("own"))) }},
	{
		"AlltoallValue", 1, -1,
		func(c *Comm, n int64) error {
			lens, none := make([]int64, c.Size()), make([]int, c.Size())
			for i := range lens {
				lens[i] = n
			}
			return errors.Join(Alltoall(c, lens, make([]int64, c.Size())),
				Alltoallv(c, []byte{}, none, nil, []byte{}, none, nil))
		},
		func(c *Comm) error { return second(AlltoallValue(c, make([]string, c.Size()))) },
	},
	{
		"ScatterValue", 0, -1,
		func(c *Comm, n int64) error {
			lens := make([]int64, c.Size())
			for i := range lens {
				lens[i] = n
			}
			none := make([]int, c.Size())
			return errors.Join(Scatter(c, lens, []int64{0}, 0), Scatterv(c, []byte{}, none, nil, []byte{}, 0))
		},
		func(c *Comm) error { return second(ScatterValue[string](c, nil, 0)) },
	},
}

func lieAtAllgather(c *Comm, n int64) error {
	return errors.Join(Allgather(c, []int64{n}, make([]int64, c.Size())),
		Allgatherv(c, []byte{}, []byte{}, make([]int, c.Size()), nil))
}

// TestHugeCollective: a number that a peer tells and that no process can allocate ends the collective on all ranks, and
// nothing panics.
func TestHugeCollective(t *testing.T) {
	for _, l := range liars {
		for n, want := range map[int64]error{
			1 << 60: ErrMemory, 1<<63 - 1: ErrMemory, 1<<46 + 1: ErrMemory, -1: ErrCount, -1 << 63: ErrCount,
		} {
			t.Run(fmt.Sprint(l.name, "/", n), func(t *testing.T) {
				must(t, 3, func(c *Comm) error {
					if c.Rank() == l.liar {
						return says(want, "", errors.Join(l.lie(c, n), c.Barrier()))
					}
					err := l.honest(c)
					if l.finds < 0 || l.finds == c.Rank() {
						if err := says(want, "mpi: "+l.name, err); err != nil {
							return err
						}
					}
					return says(want, "", errors.Join(err, c.Barrier()))
				})
			})
		}
	}
}

func says(want error, text string, err error) error {
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		return fmt.Errorf("want %q and %q, not %v", want, text, err) //nolint:errorlint // it is not to be found
	}
	return nil
}
