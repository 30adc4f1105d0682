package coll

import (
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Long parts for one rank each travel in one of two ways. The reader says which, in what it brings to the call. It
// takes chunks from the shared segment, or it gets its parts from where they lie, whose keys the others bring. Chunks
// are copied twice, and cross between cores twice. A get takes a system call. Which is quicker depends on how far the
// cores are apart, so it is measured; see partMethods. Each reader may say what it likes.

// canReach tells that this rank copies from the memory of the other ranks of the node by itself.
func (x *Call) canReach(on *nodes) bool {
	for _, r := range on.ranks {
		if r == x.rank {
			continue
		}
		if reach := x.st.OfRank.Rank.Endpoint().Reach(int(x.st.Peers[r])); !reach.Get || !reach.Near {
			return false
		}
	}
	return true
}

// shmAlltoallParts is shmAlltoall for long parts, with In and Out apart.
func shmAlltoallParts(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(in) / x.size
	copy(out[x.rank*n:][:n], in[x.rank*n:])
	return x.swapParts(in, n, n)
}

// shmAllgatherParts is shmAllgather for long parts of two ranks. In may lie in its place of Out.
func shmAllgatherParts(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	copy(out[x.rank*len(in):], in)
	return x.swapParts(in, len(in), 0)
}

// parts are the parts of a call, as a rank knows them when all have brought something.
type parts struct {
	in      []byte                   // of this rank
	n       int                      // bytes of a part
	step    int                      // bytes from the part of a reader to that of the next one in the in of any rank
	keys    []shmKey                 // of in, for each rank
	theirs  [shmcoll.MaxRanks]shmKey // of the in of each rank, for this one
	chunked [shmcoll.MaxRanks]bool   // the rank takes chunks
}

// swapParts gives each rank its part of n bytes of the in of each other one, in its place of Out. Nobody needs this
// rank's in any more when it returns.
func (x *Call) swapParts(in []byte, n, step int) error {
	begun, ways := arch.Ticks(), x.partMethods()
	p := parts{in: in, n: n, step: step}
	p.chunked[x.rank] = ways.pickChunks(x, n)
	err := x.moveParts(&p)
	ways.noteCost(x, &p, arch.Ticks()-begun, err)
	return err
}

func (x *Call) moveParts(p *parts) (err error) {
	p.keys, err = x.exposeAll(p.in)
	defer x.releaseAll(p.keys, len(p.in))
	if err == nil {
		err = x.meetParts(p)
	}
	if err != nil {
		return err
	}
	any, all := false, true // take chunks
	for _, chunked := range p.chunked[:x.size] {
		any, all = any || chunked, all && chunked
	}
	if any {
		if err := x.flowParts(p); err != nil {
			return err
		}
	}
	if !p.chunked[x.rank] {
		if err := x.getParts(p); err != nil {
			return err
		}
	}
	if all {
		return nil
	}
	return x.leaveCall()
}

// meetParts tells the others how this rank takes its parts and where its in lies, and learns that of theirs. A rank has
// no key for itself: the size of that one, if not 0, says that it takes chunks.
func (x *Call) meetParts(p *parts) error {
	tell := append([]shmKey(nil), p.keys...)
	if p.chunked[x.rank] {
		tell[x.rank].size = 1
	}
	if err := x.bring(bytesIn(tell).mem); err != nil {
		return err
	}
	for k := 1; k < x.size; k++ {
		r := x.behindBy(k)
		b, err := x.brought(r, len(tell)*int(unsafe.Sizeof(tell[0])))
		if err != nil {
			return err
		}
		keys := unsafe.Slice((*shmKey)(unsafe.Pointer(&b[0])), x.size)
		p.theirs[r], p.chunked[r] = keys[x.rank], keys[r].size != 0
		if n := p.theirs[r].size; n != 0 && n != uint64(len(p.in)) {
			return x.callErrorf(sentinel.ErrCount, "rank %d sent %d bytes, %d were expected", r, n, len(p.in))
		}
	}
	x.allBrought()
	return nil
}

// flowParts gives chunks to the ranks that take them, and takes those for this rank, if it does.
func (x *Call) flowParts(p *parts) error {
	out, m := x.buf[schedule.Out].mem, pieces(p.n)
	var readers []int
	for k := 1; k < x.size; k++ {
		if r := x.behindBy(k); p.chunked[r] {
			readers = append(readers, r)
		}
	}
	s := shmStream{
		chunks: m * len(readers),
		chunk: func(i int) ([]byte, int) {
			r := readers[i/m]
			return piece(p.in[r*p.step:][:p.n], i%m), r
		},
		reads: func(int) int {
			if p.chunked[x.rank] {
				return m
			}
			return 0
		},
		next: func(r, j int) (int, int) { return p.readersBefore(r, x.rank, x.size)*m + j, len(piece(out[:p.n], j)) },
		take: func(r, j int, data []byte) error { copy(piece(out[r*p.n:][:p.n], j), data); return nil },
	}
	if err := x.beginBulk(); err != nil {
		return err
	}
	return x.flow(&s)
}

// readersBefore is how many readers rank from serves before rank to, of size ranks. It begins with the one behind
// itself.
func (p *parts) readersBefore(from, to, size int) (n int) {
	for r := (from + 1) % size; r != to; r = (r + 1) % size {
		if p.chunked[r] {
			n++
		}
	}
	return n
}

// getParts gets this rank's parts from the memory of the others.
func (x *Call) getParts(p *parts) error {
	out := x.buf[schedule.Out].mem
	for k := 1; k < x.size; k++ {
		r := x.behindBy(k)
		key := p.theirs[r].keyOf(int64(len(p.in)))
		if err := x.st.Server.Get(int(x.st.Peers[r]), out[r*p.n:][:p.n], key, int64(x.rank*p.step)); err != nil {
			return x.waitError(r, x.view.comm.Cause(err))
		}
	}
	return nil
}

// keyOf is the key of so many bytes.
func (k shmKey) keyOf(n int64) conduit.Key { return conduit.Key{ID: k.id, Base: k.base, Size: n} }

// exposeAll lets the other ranks reach mem.
func (x *Call) exposeAll(mem []byte) ([]shmKey, error) {
	keys := make([]shmKey, x.size)
	for r := range keys {
		if r == x.rank {
			continue
		}
		k, status := x.st.OfRank.remote().Expose(int(x.st.Peers[r]), mem)
		if status == conduit.Dead {
			continue // the wait for what r brings tells of it
		}
		if status != conduit.OK {
			return keys, x.callErrorf(sentinel.ErrBuffer, "rank %d cannot be given access to %d bytes: %v", r, len(mem),
				status)
		}
		keys[r] = shmKey{size: uint64(len(mem)), id: k.ID, base: k.Base}
	}
	return keys, nil
}

// releaseAll ends what exposeAll began, for memory of n bytes.
func (x *Call) releaseAll(keys []shmKey, n int) {
	for r, k := range keys {
		if k.size != 0 {
			_ = x.st.OfRank.remote().Release(int(x.st.Peers[r]), k.keyOf(int64(n))) // an error is of a rank that has died
		}
	}
}

// leaveCall says that this rank has done with the call, and waits until all ranks have.
func (x *Call) leaveCall() error {
	x.tellDone(x.call + 1)
	return x.allDone(x.call + 1)
}
