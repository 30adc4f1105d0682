package file

import (
	"errors"
	"io"
	"os"

	"github.com/golci/golci/mpi/internal/fileview"
)

// piece is memory for a place of a file.
type piece struct {
	at  int64
	mem []byte
}

// Small pieces go through a buffer: so many bytes at most, and over holes no larger than that when reading.
const (
	mostBuffered = 4 << 20
	widestHole   = 64 << 10
)

// pieces are those that hold data, which begin at byte pos of the stream of a view.
func pieces(v *fileview.View, pos int64, data []byte) []piece {
	var all []piece
	v.Runs(pos, int64(len(data)), func(r fileview.Run) bool {
		all = append(all, piece{r.At, data[:r.Len:r.Len]})
		data = data[r.Len:]
		return true
	})
	return all
}

// span is how many pieces at the beginning of all go through one buffer, and where they end in the file.
func span(all []piece, hole int64) (n int, end int64) {
	end = all[0].at + int64(len(all[0].mem))
	for n = 1; n < len(all); n++ {
		p := all[n]
		next := p.at + int64(len(p.mem))
		if p.at < end || p.at-end > hole || next-all[0].at > mostBuffered {
			break
		}
		end = next
	}
	return n, end
}

// read fills the pieces, and gives the number of bytes before the end of the file.
func read(f *os.File, all []piece) (got int64, err error) {
	var buf []byte
	for len(all) > 0 {
		n, end := span(all, widestHole)
		first := all[0].at
		mem := all[0].mem
		if n > 1 {
			if int64(cap(buf)) < end-first {
				buf = make([]byte, end-first)
			}
			mem = buf[:end-first]
		}
		have, err := f.ReadAt(mem, first)
		if err != nil && !errors.Is(err, io.EOF) {
			return got, err
		}
		if n == 1 {
			got += int64(have)
		}
		for _, p := range all[:n] {
			if skip := p.at - first; n > 1 && skip < int64(have) {
				got += int64(copy(p.mem, mem[skip:have]))
			}
		}
		if have < len(mem) {
			return got, nil
		}
		all = all[n:]
	}
	return got, nil
}

// write writes the pieces. Nothing is written between them, so others may write there at once.
func write(f *os.File, all []piece) error {
	var buf []byte
	for len(all) > 0 {
		n, _ := span(all, 0)
		mem := all[0].mem
		if n > 1 {
			buf = buf[:0]
			for _, p := range all[:n] {
				buf = append(buf, p.mem...)
			}
			mem = buf
		}
		if _, err := f.WriteAt(mem, all[0].at); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// grow makes a file no shorter than n bytes.
func grow(f *os.File, n int64) error {
	st, err := f.Stat()
	if err != nil || st.Size() >= n {
		return err
	}
	return f.Truncate(n)
}
