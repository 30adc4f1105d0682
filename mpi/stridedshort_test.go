package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestStridedShort: parts that are packed here, of several shapes and lengths around the limit, arrive as they were
// sent, and what lies between them stays. Types are not checked, since that takes another path.
func TestStridedShort(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		for tag, s := range []Strided{
			{0, 1, 2}, {1, 1, 1}, {8, 1, 8}, {5, 3, 7}, {1, 256, 256}, {256, 1, 2}, {257, 1, 2}, {64, 4, 5},
		} {
			out, in := make([]int32, s.endIndex()+2), make([]int32, s.endIndex()+2)
			for i := range out {
				out[i], in[i] = int32(i+1), -1
			}
			if err := SendStrided(c, out[1:], s, 0, tag); err != nil {
				return err
			}
			st, err := RecvStrided(c, in[1:], s, 0, tag)
			if err != nil || st.Bytes() != int64(4*s.Count*s.Block) || st.Tag != tag || st.Source != 0 {
				return fmt.Errorf("%+v: %v, %w", s, st, err)
			}
			for i, got := range in {
				want := int32(-1)
				if at := i - 1; at >= 0 && at < s.endIndex() && at%s.Stride < s.Block {
					want = int32(i + 1)
				}
				if got != want {
					return fmt.Errorf("%+v: element %d is %d, want %d", s, i, got, want)
				}
			}
		}
		return nil
	}, With("GOLCI_CHECK", "off"))
}

// TestStridedShortOdd: messages that do not fill a short part, end within an element, or are too long.
func TestStridedShortOdd(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		s := Strided{3, 2, 3}
		for _, x := range []struct {
			bytes int
			want  []uint16
			err   error
		}{
			{0, []uint16{9, 9, 9, 9, 9, 9, 9, 9}, nil},
			{6, []uint16{1, 2, 9, 3, 9, 9, 9, 9}, nil},
			{8, []uint16{1, 2, 9, 3, 4, 9, 9, 9}, nil},
			{12, []uint16{1, 2, 9, 3, 4, 9, 5, 6}, nil},
			{14, []uint16{1, 2, 9, 3, 4, 9, 5, 6}, ErrTruncate},
		} {
			all := []uint16{1, 2, 3, 4, 5, 6, 7}
			if err := Send(c, bytesOf(all)[:x.bytes], 0, 5); err != nil {
				return err
			}
			in := slices.Repeat([]uint16{9}, 8)
			if _, err := RecvStrided(c, in, s, 0, 5); !errors.Is(err, x.err) || !slices.Equal(in, x.want) {
				return fmt.Errorf("%d bytes: %v, want %v; %w", x.bytes, in, x.want, err)
			}
		}
		if err := Send(c, []byte{3, 0, 4}, 0, 5); err != nil { // one element and a half
			return err
		}
		in := []uint16{9, 0x909, 9}
		if _, err := RecvStrided(c, in, Strided{1, 2, 2}, 0, 5); err != nil || !slices.Equal(in, []uint16{3, 0x904, 9}) {
			return fmt.Errorf("%#x, %w", in, err)
		}
		return nil
	}, With("GOLCI_CHECK", "off"))
}
