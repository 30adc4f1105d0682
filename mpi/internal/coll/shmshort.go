package coll

import (
	"unsafe"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Short collectives through the shared segment: what a rank brings has a place for each of the last calls. So a rank
// that brings something and waits for nobody may be some calls ahead of the others.

// bring shows what this rank brings to the call.
func (x *Call) bring(data []byte) error {
	if err := x.mayBring(); err != nil {
		return err
	}
	x.rouse(x.show(data))
	return nil
}

// show is bring for a rank that may, but wakes nobody. It returns the ranks that may be asleep.
func (x *Call) show(data []byte) (asleep uint64) {
	sh := &x.st.shared
	p := sh.b.Short(sh.me, x.call)
	arch.CopyOut(p.Bytes(len(data)), data)
	return sh.b.Publish(p, shmcoll.Seq(x.call, 0), shmcoll.About(x.tag, len(data)), x.seal)
}

// mayBring waits until all ranks have done with the place of this one.
func (x *Call) mayBring() error {
	if x.call < shmcoll.Calls {
		return nil
	}
	return x.allDone(x.call - shmcoll.Calls + 1)
}

// brought is what another rank brings: n bytes. It waits for it.
func (x *Call) brought(rank, n int) ([]byte, error) {
	return x.came(rank, x.st.shared.b.Short(rank, x.call), 0, n)
}

// allBrought notes that all ranks have shown their part. So all have begun this call, and have ended those before it.
func (x *Call) allBrought() { x.st.shared.seen = max(x.st.shared.seen, x.call) }

// shmBarrier waits for all ranks.
func shmBarrier(x *Call, _ int) error {
	if x.counts() {
		return x.byCount(nil, nil, func([]byte) error { return nil })
	}
	if err := x.bring(nil); err != nil {
		return err
	}
	for k := 1; k < x.near(); k++ {
		if _, err := x.brought(x.behindBy(k), 0); err != nil {
			return err
		}
	}
	x.allBrought()
	return nil
}

// shmBcast gives all ranks the Out of root.
func shmBcast(x *Call, root int) error {
	return x.spreadShort(x.buf[schedule.Out].mem, root)
}

// spreadShort gives b of a rank of the node to the others.
func (x *Call) spreadShort(b []byte, from int) error {
	if x.st.shared.me == from {
		return x.bring(b)
	}
	in, err := x.brought(from, len(b))
	copy(b, in)
	return err
}

// shmGather gives root the parts of all, one behind the other.
func shmGather(x *Call, root int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	if x.rank != root {
		return x.bring(in)
	}
	return x.collectParts(in, out)
}

// shmAllgather gives all ranks the parts of all, one behind the other.
func shmAllgather(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	if n := len(in) * x.size; x.counts() && n <= shmcoll.Short {
		return x.byCount(in, out[:n], func(out []byte) error { return x.collectParts(in, out) })
	}
	if err := x.bring(in); err != nil {
		return err
	}
	err := x.collectParts(in, out)
	x.allBrought()
	return err
}

// collectParts has out be the parts of all ranks, of which in is the own one; it may lie in its place.
func (x *Call) collectParts(in, out []byte) error {
	n := len(in)
	copy(out[x.rank*n:], in)
	for k := 1; k < x.size; k++ {
		r := x.behindBy(k)
		b, err := x.brought(r, n)
		if err != nil {
			return err
		}
		copy(out[r*n:], b)
	}
	return nil
}

// near is how many ranks of the communicator the node has.
func (x *Call) near() int { return len(x.st.shared.ranks) }

// behindBy is the rank k places behind this one, going round those of the node. Ranks begin with different ones, so
// that they do not all read the same memory.
func (x *Call) behindBy(k int) int {
	sh := &x.st.shared
	if r := sh.me + k; r < len(sh.ranks) {
		return r
	}
	return sh.me + k - len(sh.ranks)
}

// shmScatter gives each rank its part of what root has.
func shmScatter(x *Call, root int) error {
	out := x.buf[schedule.Out].mem
	n := len(out)
	if x.rank == root {
		in := x.buf[schedule.In].mem
		copy(out, in[root*n:]) // the same memory if it is in place
		return x.bring(in[:n*x.size])
	}
	b, err := x.brought(root, n*x.size)
	if err == nil {
		copy(out, b[x.rank*n:])
	}
	return err
}

// shmAlltoall sends part j of In to rank j. In may be Out.
func shmAlltoall(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	if err := x.bring(in); err != nil {
		return err
	}
	n := len(in) / x.size
	if unsafe.SliceData(in) != unsafe.SliceData(out) {
		copy(out[x.rank*n:], in[x.rank*n:][:n])
	}
	for k := 1; k < x.size; k++ {
		r := x.behindBy(k)
		b, err := x.brought(r, len(in))
		if err != nil {
			return err
		}
		copy(out[r*n:], b[x.rank*n:][:n])
	}
	x.allBrought()
	return nil
}

// shmReduce combines the In of all ranks into the Out of root. In may be Out.
func shmReduce(x *Call, root int) error {
	in := x.buf[schedule.In].mem
	if err := x.bring(in); err != nil || x.rank != root {
		return err
	}
	return x.combineAll(x.buf[schedule.Out].mem[:len(in)], len(in), 0)
}

// shmAllreduce combines the In of all ranks into the Out of all. In may be Out.
func shmAllreduce(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	if x.counts() {
		return x.byCount(in, out[:len(in)], func(out []byte) error { return x.combineAll(out, len(in), 0) })
	}
	if err := x.bring(in); err != nil {
		return err
	}
	err := x.combineAll(out[:len(in)], len(in), 0)
	x.allBrought()
	return err
}

// combineAll has out be bytes of the combination of what all ranks have brought, n bytes each. They begin at byte off.
func (x *Call) combineAll(out []byte, n, off int) error {
	var all [shmcoll.MaxRanks][]byte
	for r := range x.near() {
		b, err := x.brought(r, n)
		if err != nil {
			return err
		}
		all[r] = b[off:][:len(out)]
	}
	return x.fold(out, all[:x.near()])
}

// shmReduceScatter combines the In of all ranks. Each rank gets its part of the result, at the beginning of its Out.
// In may be Out.
func shmReduceScatter(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(out)
	if unsafe.SliceData(in) == unsafe.SliceData(out) {
		n = len(in) / x.size
	}
	in = in[:n*x.size]
	if err := x.bring(in); err != nil {
		return err
	}
	err := x.combineAll(out[:n], len(in), x.rank*n)
	x.allBrought()
	return err
}
