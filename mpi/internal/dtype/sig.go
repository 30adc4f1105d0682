package dtype

import "math/bits"

// Sig stands for the signature of a message: its basics, in order, without their places (3.3.1). Equal signatures have
// equal Sigs. Different ones have different Sigs but for an accident of one in 2^61.
type Sig struct {
	Hash uint64 // 0: there are MPI_PACKED elements, which match anything
	N    int64  // basics
}

// Sig is the signature of count elements of t.
func (t *Type) Sig(count int64) Sig { return t.sum.times(count).sig() }

// sigPrefix is the signature of the first n basics of count elements of t. A receive with room for more compares it
// with what has come.
func (t *Type) sigPrefix(count, n int64) Sig {
	if t.basics == 0 || n >= count*t.basics {
		return t.Sig(count)
	}
	s := t.sum.times(n / t.basics)
	return s.then(t.sumOf(n % t.basics)).sig()
}

// sum is a hash of a list of basics: its numbers as digits of one in base digit, modulo prime. So the sum of two lists
// in a row follows from theirs.
type sum struct {
	hash uint64
	n    int64
	any  bool // matches anything
}

const (
	prime = 1<<61 - 1
	digit = 0x1b8d6f3a94c7e15d // below prime; chosen by chance
)

func basicSum(f *fact) sum {
	return sum{hash: (uint64(f.kind)<<8 | uint64(f.size)) * 0x9e3779b97f4a7c15 % prime, n: 1, any: f.kind == packedKind}
}

func (s sum) sig() Sig {
	if s.any {
		return Sig{N: s.n}
	}
	return Sig{Hash: s.hash + 1, N: s.n}
}

// then is the sum of s and what follows it.
func (s sum) then(next sum) sum {
	hash := mulMod(s.hash, power(uint64(next.n))) + next.hash
	return sum{hash: hash % prime, n: s.n + next.n, any: s.any || next.any}
}

// times is the sum of n lists like s in a row.
func (s sum) times(n int64) sum {
	var all sum
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			all = all.then(s)
		}
		s = s.then(s)
	}
	return all
}

// power is digit to the n.
func power(n uint64) uint64 {
	p, square := uint64(1), uint64(digit)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = mulMod(p, square)
		}
		square = mulMod(square, square)
	}
	return p
}

func mulMod(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b) // below 2^122
	s := low&prime + (high<<3 | low>>61)
	s = s&prime + s>>61
	if s >= prime {
		s -= prime
	}
	return s
}

// sumUp is the sum of the type map. Blocks of one type in a row are one power of its sum.
func (t *Type) sumUp() sum {
	var all sum
	for i := 0; i < len(t.blocks); {
		b, n := &t.blocks[i], int64(0)
		for ; i < len(t.blocks) && t.blocks[i].t == b.t; i++ {
			n += t.blocks[i].n
		}
		all = all.then(b.t.sum.times(n))
	}
	return all.times(t.reps)
}

// sumOf is the sum of the first n basics, fewer than there are.
func (t *Type) sumOf(n int64) sum {
	if n == 0 {
		return sum{}
	}
	part := t.basics / t.reps
	all := t.sumUpOnce().times(n / part)
	n %= part
	for i := range t.blocks {
		b := &t.blocks[i]
		if n < b.n*b.t.basics {
			return all.then(b.t.sum.times(n / b.t.basics)).then(b.t.sumOf(n % b.t.basics))
		}
		all = all.then(b.t.sum.times(b.n))
		n -= b.n * b.t.basics
	}
	return all
}

// sumUpOnce is the sum of the blocks, without their repetitions.
func (t *Type) sumUpOnce() sum {
	if t.reps == 1 {
		return t.sum
	}
	once := Type{reps: 1, blocks: t.blocks}
	return once.sumUp()
}
