package file

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// Some ranks, the aggregators, read or write for all (14.4.1). Each has a part of the file's bytes, which it goes
// through in rounds, so that the memory it needs is bounded.
const (
	smallestDomain = 1 << 20  // bytes of an aggregator
	roundBytes     = 16 << 20 // of an aggregator in a round, without the hint cb_buffer_size
	blockBytes     = 4096     // domains begin at multiples of it
)

// domains is how the bytes from low on are divided: each aggregator has so many, in rounds of fewer.
type domains struct{ low, each, round, rounds, n int64 }

func (f *File) domains(parts []part) domains {
	d := domains{low: -1}
	high := int64(0)
	for _, p := range parts {
		if p.n > 0 {
			if d.low < 0 || p.low < d.low {
				d.low = p.low
			}
			high = max(high, p.high)
		}
	}
	d.low -= d.low % blockBytes
	all := high - d.low
	d.n = min(int64(len(parts)), f.hint("cb_nodes", int64(len(parts))), max(all/smallestDomain, 1))
	d.each = (all/d.n/blockBytes + 1) * blockBytes
	d.round = min(d.each, f.hint("cb_buffer_size", roundBytes))
	d.rounds = (d.each + d.round - 1) / d.round
	return d
}

// cutDomain gives the pieces of all, in their order, that aggregator i has in a round.
func (d *domains) cutDomain(all []piece, i, round int64) []piece {
	low := d.low + i*d.each + round*d.round
	high := min(low+d.round, d.low+(i+1)*d.each)
	var in []piece
	for _, p := range all {
		from, to := max(p.at, low), min(p.at+int64(len(p.mem)), high)
		if from < to {
			in = append(in, piece{from, p.mem[from-p.at : to-p.at]})
		}
	}
	return in
}

// exchangePieces reads or writes the pieces of all ranks by aggregators. If one of them fails all ranks have the error.
func (f *File) exchangePieces(a *access, all []piece, parts []part) error {
	d := f.domains(parts)
	var bad error
	for round := range d.rounds {
		if err := f.round(a, &d, all, round, &bad); err != nil {
			return err
		}
	}
	return f.together(a.What, bad)
}

// round does one round. bad is the first error of this rank as an aggregator.
func (f *File) round(a *access, d *domains, all []piece, round int64, bad *error) error {
	n := f.c.Size()
	mine := make([][]piece, n)
	out := make([][]byte, n)
	for i := range mine[:d.n] {
		mine[i] = d.cutDomain(all, int64(i), round)
		out[i] = encode(mine[i], a.Write)
	}
	in, err := f.swap(a.What, out)
	if err != nil {
		return err
	}
	ask := make([][]piece, n)
	var joined []piece
	for r := range in {
		if ask[r], err = decode(in[r], a.Write); err != nil {
			return f.fileErrorf(a.What, err)
		}
		joined = append(joined, ask[r]...)
	}
	slices.SortStableFunc(joined, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
	if a.Write {
		err = write(f.f, joined)
	} else {
		_, err = read(f.f, joined)
	}
	if *bad == nil {
		*bad = err
	}
	if a.Write {
		return nil
	}
	return f.answerAsked(a.What, ask, mine)
}

// answerAsked sends what was read to the rank that asked, and puts what comes into the own pieces.
func (f *File) answerAsked(what string, ask, mine [][]piece) error {
	out := make([][]byte, len(ask))
	for r := range ask {
		for _, p := range ask[r] {
			out[r] = append(out[r], p.mem...)
		}
	}
	in, err := f.swap(what, out)
	if err != nil {
		return err
	}
	for r := range mine {
		for _, p := range mine[r] {
			in[r] = in[r][copy(p.mem, in[r]):]
		}
	}
	return nil
}

// encode makes a message of pieces: the place and length of each, and its bytes if they are to be written.
func encode(all []piece, data bool) []byte {
	var b []byte
	for _, p := range all {
		b = binary.NativeEndian.AppendUint64(b, uint64(p.at))
		b = binary.NativeEndian.AppendUint64(b, uint64(len(p.mem)))
		if data {
			b = append(b, p.mem...)
		}
	}
	return b
}

// decode is the reverse of encode. Pieces to read get new memory.
func decode(b []byte, data bool) (all []piece, err error) {
	for len(b) > 0 {
		if len(b) < 16 {
			return nil, fmt.Errorf("%w: half a piece of a file", errs.Intern)
		}
		p := piece{at: int64(binary.NativeEndian.Uint64(b))}
		n := binary.NativeEndian.Uint64(b[8:])
		b = b[16:]
		switch {
		case data && n > uint64(len(b)) || n > 1<<40:
			return nil, fmt.Errorf("%w: a piece of %d bytes, in a message of %d", errs.Intern, n, len(b))
		case data:
			p.mem, b = b[:n:n], b[n:]
		default:
			p.mem = make([]byte, n)
		}
		all = append(all, p)
	}
	return all, nil
}

// swap sends out[r] to rank r, and gives what comes from each.
func (f *File) swap(what string, out [][]byte) ([][]byte, error) {
	n := len(out)
	send, recv, lens := argument.Parts{}, argument.Parts{}, make([]int, n)
	var flat []byte
	for _, b := range out {
		send.Counts = append(send.Counts, len(b))
		send.Displs = append(send.Displs, len(flat))
		flat = append(flat, b...)
	}
	word, byte1 := dtype.Named(dtype.Int64), dtype.Named(dtype.Byte)
	err := f.c.Do(&argument.Description{
		Kind: argument.KindAlltoall, What: what,
		In:  argument.Side{Mem: unsafe.Pointer(&send.Counts[0]), N: 1, T: word},
		Out: argument.Side{Mem: unsafe.Pointer(&lens[0]), N: 1, T: word},
	})
	if err != nil {
		return nil, err
	}
	total := 0
	for _, l := range lens {
		recv.Counts, recv.Displs = append(recv.Counts, l), append(recv.Displs, total)
		total += l
	}
	in := make([]byte, total)
	err = f.c.Do(&argument.Description{
		Kind: argument.KindAlltoallv, What: what,
		In:  argument.Side{Mem: unsafe.Pointer(unsafe.SliceData(flat)), T: byte1, Parts: send},
		Out: argument.Side{Mem: unsafe.Pointer(unsafe.SliceData(in)), T: byte1, Parts: recv},
	})
	if err != nil {
		return nil, err
	}
	each := make([][]byte, n)
	for r, l := range lens {
		each[r], in = in[:l:l], in[l:]
	}
	return each, nil
}
