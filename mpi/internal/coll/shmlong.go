package coll

import (
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Long collectives through the shared segment. What a rank brings is a stream of chunks, which go round a ring of
// places. A chunk may be for one rank or for all. Each rank writes the next chunks where the readers of what lay there
// have done with it, and reads what has come of the others. It waits when it can do neither.

// shmStream is what one call brings and reads. It is a value of the call, used by one goroutine.
type shmStream struct {
	first  int // number of the first chunk, on the shared segment
	chunks int // that this rank brings
	// chunk gives the bytes of chunk i, and who reads it: a rank, or all of them if that is negative.
	chunk func(i int) (b []byte, reader int)
	// reads is how many chunks of a rank this one reads. next gives the number of the j-th and its length. take gets
	// its bytes.
	reads func(rank int) int
	next  func(rank, j int) (i, n int)
	take  func(rank, j int, b []byte) error

	put  int                   // chunks that have been brought
	got  [shmcoll.MaxRanks]int // chunks of each rank that have been read
	left int                   // chunks that are still to be read
}

// flow carries out a stream, after beginBulk.
func (x *Call) flow(s *shmStream) error {
	for r := range x.near() {
		if r != x.st.shared.me {
			s.left += s.reads(r)
		}
	}
	for {
		moved, err := x.pump(s)
		if err != nil || s.put == s.chunks && s.left == 0 {
			return err
		}
		if moved {
			continue
		}
		ready := func() bool { return x.canPut(s) || x.anyCame(s) >= 0 }
		if err := x.awaitUntil(x.lacking(s), ready, shmcoll.AwaitsData); err != nil {
			return err
		}
	}
}

// beginBulk waits until nobody reads chunks of an earlier call.
func (x *Call) beginBulk() error {
	sh := &x.st.shared
	last := sh.bulk
	sh.bulk = x.call
	if last == 0 {
		return nil
	}
	return x.allDone(last + 1)
}

// pump makes progress on s without waiting. It puts chunks of this rank while there is room, and takes chunks that
// other ranks of the node have put. It reports whether it has moved any.
func (x *Call) pump(s *shmStream) (moved bool, err error) {
	for x.canPut(s) {
		x.putChunk(s)
		moved = true
	}
	for k := 1; k < x.near(); k++ {
		r := x.behindBy(k)
		for s.got[r] < s.reads(r) && x.hasCome(s, r) {
			if err := x.takeChunk(s, r); err != nil {
				return true, err
			}
			moved = true
		}
	}
	return moved, nil
}

// canPut reports whether the next chunk can be written: its place is free.
func (x *Call) canPut(s *shmStream) bool {
	if s.put == s.chunks {
		return false
	}
	old := s.first + s.put - shmcoll.Chunks
	if old < 0 {
		return true
	}
	reader := s.readerOf(old)
	if reader >= 0 {
		return x.hasTaken(reader, old)
	}
	for r := range x.near() {
		if r != x.st.shared.me && !x.hasTaken(r, old) {
			return false
		}
	}
	return true
}

// readerOf is who reads a chunk, by its number on the shared segment: a rank, or all.
func (s *shmStream) readerOf(number int) int {
	if number < s.first {
		return -1
	}
	_, r := s.chunk(number - s.first)
	return r
}

// hasTaken reports whether a rank has done with chunk i of this one.
func (x *Call) hasTaken(rank, i int) bool {
	sh := &x.st.shared
	return sh.b.Taken(rank, sh.me).Load() > shmcoll.Seq(x.call, uint64(i))
}

func (x *Call) putChunk(s *shmStream) {
	b, _ := s.chunk(s.put)
	i := uint64(s.first + s.put)
	p := x.st.shared.b.Chunk(x.st.shared.me, i)
	arch.CopyOut(p.Bytes(len(b)), b)
	x.publishPlace(p, i, len(b))
	s.put++
}

// hasCome reports whether the next chunk to be read of a rank is there.
func (x *Call) hasCome(s *shmStream, rank int) bool {
	i, _ := s.nextOf(rank)
	return x.st.shared.b.Chunk(rank, i).Seq().Load() >= shmcoll.Seq(x.call, i)
}

// nextOf is the number on the shared segment of the next chunk to be read of a rank, and its length.
func (s *shmStream) nextOf(rank int) (number uint64, n int) {
	i, n := s.next(rank, s.got[rank])
	return uint64(s.first + i), n
}

// anyCame gives a rank of which there is something to read, or -1.
func (x *Call) anyCame(s *shmStream) int {
	for r := range x.near() {
		if r != x.st.shared.me && s.got[r] < s.reads(r) && x.hasCome(s, r) {
			return r
		}
	}
	return -1
}

// lacking is a rank without which the stream does not go on.
func (x *Call) lacking(s *shmStream) int {
	for k := 1; k < x.near(); k++ {
		if r := x.behindBy(k); s.got[r] < s.reads(r) {
			return r
		}
	}
	old := s.first + s.put - shmcoll.Chunks
	reader := s.readerOf(old)
	for r := range x.near() {
		if r != x.st.shared.me && (reader < 0 || r == reader) && !x.hasTaken(r, old) {
			return r
		}
	}
	return x.behindBy(1)
}

// takeChunk reads a chunk that has come.
func (x *Call) takeChunk(s *shmStream, rank int) error {
	b, j := x.st.shared.b, s.got[rank]
	i, n := s.nextOf(rank)
	data, err := x.came(rank, b.Chunk(rank, i), i, n)
	if err == nil {
		err = s.take(rank, j, data)
	}
	s.got[rank]++
	s.left--
	x.setWord(b.Taken(x.st.shared.me, rank), shmcoll.Seq(x.call, i+1))
	return err
}

// piece is chunk i of b.
func piece(b []byte, i int) []byte {
	return b[i*shmcoll.ChunkBytes : min(len(b), (i+1)*shmcoll.ChunkBytes)]
}

// pieces is how many chunks n bytes are.
func pieces(n int) int { return (n + shmcoll.ChunkBytes - 1) / shmcoll.ChunkBytes }

// shmBcastLong is shmBcast for any length.
func shmBcastLong(x *Call, root int) error {
	if err := x.beginBulk(); err != nil {
		return err
	}
	return x.spreadChunks(x.buf[schedule.Out].mem, root, 0)
}

// spreadChunks gives b of a rank of the node to the others. The chunks are numbered from first on; those below have
// been those of the call before.
func (x *Call) spreadChunks(b []byte, from, first int) error {
	m := pieces(len(b))
	s := shmStream{
		first: first,
		chunk: func(i int) ([]byte, int) { return piece(b, i), -1 },
		reads: func(r int) int {
			if r != from {
				return 0
			}
			return m
		},
		next: func(_, j int) (int, int) { return j, len(piece(b, j)) },
		take: func(_, j int, data []byte) error { copy(piece(b, j), data); return nil },
	}
	if x.st.shared.me == from {
		s.chunks = m
	}
	return x.flow(&s)
}

// shmAllgatherLong is shmAllgather for any length.
func shmAllgatherLong(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(in)
	m := pieces(n)
	s := shmStream{
		chunks: m,
		chunk:  func(i int) ([]byte, int) { return piece(in, i), -1 },
		reads:  func(int) int { return m },
		next:   func(_, j int) (int, int) { return j, len(piece(in, j)) },
		take: func(r, j int, data []byte) error {
			copy(piece(out[r*n:][:n], j), data)
			return nil
		},
	}
	if err := x.beginBulk(); err != nil {
		return err
	}
	if err := x.flow(&s); err != nil {
		return err
	}
	copy(out[x.rank*n:], in)
	return nil
}

// shmAlltoallLong is shmAlltoall for any length, with In and Out apart. A rank sends to the one behind it first,
// and so on, going round.
func shmAlltoallLong(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(in) / x.size
	m := pieces(n)
	part := func(b []byte, r int) []byte { return b[r*n:][:n] }
	s := shmStream{
		chunks: m * (x.size - 1),
		chunk: func(i int) ([]byte, int) {
			r := x.behindBy(i/m + 1)
			return piece(part(in, r), i%m), r
		},
		reads: func(int) int { return m },
		next: func(r, j int) (int, int) {
			k := x.rank - r
			if k < 0 {
				k += x.size
			}
			return (k-1)*m + j, len(piece(part(in, r), j))
		},
		take: func(r, j int, data []byte) error { copy(piece(part(out, r), j), data); return nil },
	}
	if err := x.beginBulk(); err != nil {
		return err
	}
	if err := x.flow(&s); err != nil {
		return err
	}
	copy(part(out, x.rank), part(in, x.rank))
	return nil
}
