package gasnettest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/am/rma"
)

// part is what each rank uses of every other's segment.
const part = 96 << 10

// overMemory runs body over each network, with remote memory that is reached directly, where it can be, and by active
// messages.
func overMemory(t *testing.T, n int, body func(*rank) error) {
	overAll(t, func(t *testing.T, net network) {
		for _, force := range []bool{false, true} {
			t.Run(fmt.Sprintf("am=%v", force), func(t *testing.T) {
				o := options{memory: n * part, forceAM: force}
				spmd(t, net, n, o, func(*rank) *struct{} { return nil }, func(r *rank, _ *struct{}) error { return body(r) })
			})
		}
	})
}

// home is where this rank's part begins, in everybody's segment.
func (r *rank) home() int64 { return int64(r.id) * part }

// TestGasnet is testgasnet: all kinds of put and get, of many sizes, to a neighbour and to the rank itself.
func TestGasnet(t *testing.T) {
	overMemory(t, 2, func(r *rank) error {
		for _, peer := range []int{r.next(), r.id} {
			for _, test := range []struct {
				name string
				run  func(r *rank, peer int) error
			}{
				{"blocking", blocking},
				{"list of handles", listed},
				{"implicit", implicit},
				{"overwrite after put", overwrite},
				{"values", values},
				{"memset", memset},
				{"immediate", tries},
			} {
				if err := test.run(r, peer); err != nil {
					return fmt.Errorf("%s, rank %d: %w", test.name, peer, err)
				}
				if err := r.barrier(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func memorySizes(r *rank) []int { return append(sizes(r.rng, 16<<10), 40<<10, part) }

// verify gets n bytes at the rank's home at peer, and compares them with what follows from seed.
func verify(r *rank, peer, n int, seed uint64) error {
	got := make([]byte, n)
	if err := r.m.Get(peer, r.home(), got); err != nil {
		return err
	}
	if !bytes.Equal(got, fill(make([]byte, n), seed)) {
		return fmt.Errorf("%d bytes came back damaged", n)
	}
	return nil
}

func blocking(r *rank, peer int) error {
	for i, n := range memorySizes(r) {
		if err := r.m.Put(peer, r.home(), fill(make([]byte, n), uint64(i))); err != nil {
			return err
		}
		if err := verify(r, peer, n, uint64(i)); err != nil {
			return err
		}
	}
	return nil
}

// pieces of a list.
const (
	pieces     = 64
	pieceBytes = part / pieces
)

func (r *rank) piece(i int) int64 { return r.home() + int64(i)*pieceBytes }

func listed(r *rank, peer int) error {
	src, dst := fill(make([]byte, part), r.rng.Uint64()), make([]byte, part)
	hs := make([]rma.Handle, pieces)
	for i := range hs {
		data := src[i*pieceBytes : (i+1)*pieceBytes]
		var err error
		if i%2 == 0 {
			hs[i], err = r.m.PutNBBulk(peer, r.piece(i), data)
		} else {
			hs[i], err = r.m.PutNB(peer, r.piece(i), data)
		}
		if err != nil {
			return err
		}
	}
	if err := rma.WaitAll(hs); err != nil {
		return err
	}
	if err := rma.WaitAll(hs); err != nil { // all are zero now, and done
		return err
	}
	for i := range hs {
		var err error
		if hs[i], err = r.m.GetNB(peer, r.piece(i), dst[i*pieceBytes:(i+1)*pieceBytes]); err != nil {
			return err
		}
	}
	var err error
	if gaveUp := r.until(func() bool {
		var over bool
		over, err = rma.TestAll(hs)
		return over
	}); gaveUp != nil || err != nil {
		return errors.Join(gaveUp, err)
	}
	if !bytes.Equal(src, dst) {
		return errors.New("the pieces came back damaged")
	}
	return nil
}

func implicit(r *rank, peer int) error {
	src, dst := fill(make([]byte, part), r.rng.Uint64()), make([]byte, part)
	c := r.m.NewContext()
	for i := range pieces {
		if err := c.Put(peer, r.piece(i), src[i*pieceBytes:(i+1)*pieceBytes]); err != nil {
			return err
		}
	}
	if err := c.WaitPuts(); err != nil {
		return err
	}
	if err := c.BeginRegion(); err != nil {
		return err
	}
	if err := c.BeginRegion(); !errors.Is(err, rma.ErrRegion) {
		return fmt.Errorf("nested region: %w", err)
	}
	for i := range pieces {
		if err := c.Get(peer, r.piece(i), dst[i*pieceBytes:(i+1)*pieceBytes]); err != nil {
			return err
		}
	}
	h, err := c.EndRegion()
	if err != nil {
		return err
	}
	if err := h.Wait(); err != nil {
		return err
	}
	if !bytes.Equal(src, dst) {
		return errors.New("the pieces came back damaged")
	}
	return c.WaitAll()
}

// overwrite spoils the source as soon as a non-bulk put has returned.
func overwrite(r *rank, peer int) error {
	buf := make([]byte, pieceBytes)
	hs := make([]rma.Handle, pieces)
	for i := range hs {
		var err error
		if hs[i], err = r.m.PutNB(peer, r.piece(i), fill(buf, uint64(i))); err != nil {
			return err
		}
		clear(buf)
	}
	if err := rma.WaitAll(hs); err != nil {
		return err
	}
	got := make([]byte, pieceBytes)
	for i := range hs {
		if err := r.m.Get(peer, r.piece(i), got); err != nil {
			return err
		}
		if !bytes.Equal(got, fill(buf, uint64(i))) {
			return fmt.Errorf("put %d took what came after it", i)
		}
	}
	return nil
}

func values(r *rank, peer int) error {
	const v = 0x8182_8384_8586_8788
	for n := 1; n <= 8; n++ {
		if err := r.m.PutValue(peer, r.home()+int64(8*n), v, n); err != nil {
			return err
		}
		got, err := r.m.GetValue(peer, r.home()+int64(8*n), n)
		if err != nil {
			return err
		}
		if want := uint64(v) << (64 - 8*n) >> (64 - 8*n); got != want {
			return fmt.Errorf("value of %d bytes: %#x, want %#x", n, got, want)
		}
	}
	return nil
}

func memset(r *rank, peer int) error {
	for i, n := range memorySizes(r) {
		v := byte(i + 1)
		if err := r.m.Memset(peer, r.home(), v, n); err != nil {
			return err
		}
		got := make([]byte, n)
		if err := r.m.Get(peer, r.home(), got); err != nil {
			return err
		}
		if bytes.Count(got, []byte{v}) != n {
			return fmt.Errorf("memset of %d bytes", n)
		}
	}
	return nil
}

// tries puts in immediate mode until all has gone, never waiting but for what was accepted.
func tries(r *rank, peer int) error {
	src := fill(make([]byte, part), r.rng.Uint64())
	hs := make([]rma.Handle, pieces)
	refused := 0
	lull := idler(0)
	for i := 0; i < pieces; {
		h, err := r.m.TryPutNB(peer, r.piece(i), src[i*pieceBytes:(i+1)*pieceBytes])
		switch {
		case err == nil:
			hs[i] = h
			i++
		case errors.Is(err, rma.ErrWouldBlock) && !r.j.failed.Load():
			refused++
			lull.idle(r.e.Poll())
		default:
			return fmt.Errorf("after %d refusals: %w", refused, err)
		}
	}
	if err := rma.WaitAll(hs); err != nil {
		return err
	}
	got := make([]byte, part)
	if err := r.m.Get(peer, r.home(), got); err != nil {
		return err
	}
	if !bytes.Equal(src, got) {
		return errors.New("immediate puts came back damaged")
	}
	return nil
}
