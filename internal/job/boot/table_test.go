package boot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot/gather"
)

// gathered has the ranks of a local job gather values, of a size that size gives, and compares what each has.
func gathered(t *testing.T, ranks int, size func(rank int) int) {
	t.Helper()
	jobs, err := Local(ranks)
	if err != nil {
		t.Fatal(err)
	}
	value := func(rank int) []byte { return bytes.Repeat([]byte{byte(rank)}, size(rank)) }
	all(t, jobs, func(ctx context.Context, j *Job) error {
		got, err := gatherValues(ctx, j, "cards", value(j.Rank))
		if err != nil {
			return err
		}
		for r, b := range got {
			if b == nil || !bytes.Equal(b, value(r)) {
				return fmt.Errorf("%d bytes of rank %d, want %d", len(b), r, size(r))
			}
		}
		return nil
	})
}

// TestGatherValues: values that are empty, of all lengths, and so long that a piece takes several messages.
func TestGatherValues(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 8, 13} {
		gathered(t, ranks, func(rank int) int { return 17 * rank })
	}
	gathered(t, 5, func(rank int) int { return maxValue - rank })
	gathered(t, 4, func(int) int { return 0 })
}

// TestExchangeAll: whether they ask a launcher or gather, ranks get the same values, and one that is wrong is named.
func TestExchangeAll(t *testing.T) {
	for _, ask := range []bool{true, false} {
		jobs := newBench(t, 11, map[string]string{}).joinAll(t, 11, false)
		odd := errors.New("odd")
		for _, bad := range []bool{false, true} {
			key := fmt.Sprintf("cards%v", bad)
			all(t, jobs, func(ctx context.Context, j *Job) error {
				check := func(v [1]int) error {
					if bad && v[0] == 2 && j.Rank != 2 {
						return odd
					}
					return nil
				}
				got, err := exchangeAll(ctx, j, key, [1]int{j.Rank}, check, ask)
				if bad && j.Rank != 2 {
					if !errors.Is(err, odd) || !strings.Contains(err.Error(), "rank 2") {
						return fmt.Errorf("a wrong value gives %w", err)
					}
					return nil
				}
				for r, v := range got {
					if v[0] != r {
						return fmt.Errorf("%d of rank %d", v[0], r)
					}
				}
				return err
			})
		}
		all(t, jobs, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
	}
}

// TestGatherWithout: the error of a rank that waits in vain names the rank that it waits for.
func TestGatherWithout(t *testing.T) {
	jobs, err := Local(3)
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	waiting.Add(2)
	all(t, jobs, func(ctx context.Context, j *Job) error {
		if j.Rank != 1 {
			defer waiting.Done()
		}
		c, err := openPost(ctx, j, "cards", []byte("x"))
		if err != nil {
			return err
		}
		defer c.closePost()
		if j.Rank == 1 {
			waiting.Wait() // it is there, and sends nothing
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		err = gatherOver(ctx, j.Rank, j.Size, c)
		if !errors.Is(err, ErrMissing) || !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("rank %d: %w", j.Rank, err)
		}
		return nil
	})
}

// FuzzPiece: a message of a gathering is read or refused, and what is read has its values in their places.
func FuzzPiece(f *testing.F) {
	c := &meshTransport{values: [][]byte{[]byte("a"), {}, []byte("ccc"), nil}}
	b, _ := c.fillMessage(gather.Piece{Round: 1, First: 2, Count: 2})
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte{0, 0, 0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readParcel(b, 4)
		if err != nil {
			if !errors.Is(err, errPost) {
				t.Fatal(err)
			}
			return
		}
		again := &meshTransport{values: make([][]byte, 4), read: p}
		again.keepPost()
		if c, n := again.fillMessage(p.Piece); n != p.Count || !sameLetter(c, b) {
			t.Fatalf("%x is read as %+v and written as %x", b, p, c)
		}
	})
}

// sameLetter compares messages but for lengths that are not as short as can be.
func sameLetter(a, b []byte) bool {
	return len(a) <= len(b) && bytes.Equal(a[:postFront], b[:postFront])
}

// TestValuesTravelAsJSON guards what ExchangeAll and Exchange have in common.
func TestValuesTravelAsJSON(t *testing.T) {
	b, err := json.Marshal([]string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := decodeValue(b, &got, func([]string) error { return nil }); err != nil || len(got) != 1 || got[0] != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if err := decodeValue([]byte("{"), &got, func([]string) error { return nil }); err == nil {
		t.Error("half a value is read")
	}
}
