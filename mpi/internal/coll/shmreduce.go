package coll

import (
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// A long Reduce or Allreduce through the shared segment goes block by block. Each rank shows its block, then combines
// its share of the blocks of all, and shows that. So a rank reads what others bring once, and combines a share only.

// blockCall is such a call.
type blockCall struct {
	x       *Call
	in, out []byte // out is nil on a rank that does not get the result
	elem    int    // bytes of an element
	each    int    // bytes of a block, but the last one
	n       int    // blocks
}

// shmAllreduceLong is shmAllreduce for any length. While a rank waits for the blocks of others, its next one is
// there for them already.
func shmAllreduceLong(x *Call, _ int) error {
	_, err := x.reduceLong(true)
	return err
}

// shmReduceLong is shmReduce for any length.
func shmReduceLong(x *Call, root int) error {
	_, err := x.reduceLong(x.rank == root)
	return err
}

// reduceLong combines the In of all ranks of the node into the Out of those that want the result. It gives the number
// of the next chunk.
func (x *Call) reduceLong(result bool) (next int, err error) {
	if err := x.beginBulk(); err != nil {
		return 0, err
	}
	in := x.buf[schedule.In]
	c := blockCall{x: x, in: in.mem, elem: in.size}
	if result {
		c.out = x.buf[schedule.Out].mem[:len(in.mem)]
	}
	c.each = shmcoll.ChunkBytes / c.elem * c.elem
	c.n = (len(c.in) + c.each - 1) / c.each
	err = c.runBlocks()
	c.doneUpTo(resultChunk(c.n - 1))
	return resultChunk(c.n-1) + 1, err
}

func (c *blockCall) runBlocks() error {
	for i := range c.n + 2 {
		if i < c.n {
			c.show(i)
		}
		if j := i - 1; j >= 0 && j < c.n {
			if err := c.reduce(j); err != nil {
				return err
			}
		}
		if j := i - 2; j >= 0 && c.out != nil {
			if err := c.collectBlock(j); err != nil {
				return err
			}
		}
	}
	return nil
}

// The chunks of a rank are numbered in the order in which it brings them: block i + 1 before the result of block i.
func blockChunk(i int) int  { return max(0, 2*i-1) }
func resultChunk(i int) int { return 2*i + 2 }

// blockOf is block i of a buffer.
func (c *blockCall) blockOf(b []byte, i int) []byte { return b[i*c.each : min(len(b), (i+1)*c.each)] }

// shareOf is what a rank combines of n bytes.
func (c *blockCall) shareOf(rank, n int) (from, to int) {
	n /= c.elem
	ranks := c.x.near()
	return n * rank / ranks * c.elem, n * (rank + 1) / ranks * c.elem
}

// placeOf gives the place for a chunk of this rank. Others have done with what lay there four blocks ago: without what
// they have brought since, this rank would not have got here.
func (c *blockCall) placeOf(chunk int) shmcoll.Slot {
	return c.x.st.shared.b.Chunk(c.x.st.shared.me, uint64(chunk))
}

const _ = uint(shmcoll.Chunks - 8) // two chunks for each block

// show brings block i, but for the share that this rank combines itself.
func (c *blockCall) show(i int) {
	p, b := c.placeOf(blockChunk(i)), c.blockOf(c.in, i)
	to := p.Bytes(len(b))
	from, upTo := c.shareOf(c.x.st.shared.me, len(b))
	arch.CopyOut(to, b[:from])
	arch.CopyOut(to[upTo:], b[upTo:])
	c.x.publishPlace(p, uint64(blockChunk(i)), len(b))
}

// reduce combines this rank's share of block i, and brings the result.
func (c *blockCall) reduce(i int) error {
	x, own := c.x, c.blockOf(c.in, i)
	from, to := c.shareOf(x.st.shared.me, len(own))
	var all [shmcoll.MaxRanks][]byte
	for r := range x.near() {
		b := own
		if r != x.st.shared.me {
			var err error
			if b, err = c.come(r, blockChunk(i), len(own)); err != nil {
				return err
			}
		}
		all[r] = b[from:to]
	}
	p := c.placeOf(resultChunk(i))
	result := p.Bytes(to - from)
	if err := x.fold(result, all[:x.near()]); err != nil {
		return err
	}
	x.publishPlace(p, uint64(resultChunk(i)), len(result))
	if c.out != nil {
		copy(c.blockOf(c.out, i)[from:to], result)
	}
	return nil
}

// collectBlock reads the results of block i.
func (c *blockCall) collectBlock(i int) error {
	out := c.blockOf(c.out, i)
	for k := 1; k < c.x.near(); k++ {
		r := c.x.behindBy(k)
		from, to := c.shareOf(r, len(out))
		b, err := c.come(r, resultChunk(i), to-from)
		if err != nil {
			return err
		}
		copy(out[from:to], b)
	}
	return nil
}

// come waits for a chunk of a rank, of n bytes.
func (c *blockCall) come(rank, chunk, n int) ([]byte, error) {
	return c.x.came(rank, c.x.st.shared.b.Chunk(rank, uint64(chunk)), uint64(chunk), n)
}

// doneUpTo tells the other ranks that this one has done with the chunks of each up to one.
func (c *blockCall) doneUpTo(chunk int) {
	x := c.x
	for k := 1; k < x.near(); k++ {
		x.setWord(x.st.shared.b.Taken(x.st.shared.me, x.behindBy(k)), shmcoll.Seq(x.call, uint64(chunk)+1))
	}
}
