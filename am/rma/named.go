package rma

// The atomics by name, on the number at offset off, in bytes, of peer's segment.

// Load reads the number at offset off of peer's segment. It blocks and fails as Atomic does.
func Load[T Number](m *Memory, peer int, off int64) (T, error) {
	return Atomic[T](m, OpGet, peer, off, 0, 0)
}

// Store writes v to offset off of peer's segment. It blocks and fails as Atomic does.
func Store[T Number](m *Memory, peer int, off int64, v T) error {
	_, err := Atomic(m, OpSet, peer, off, v, 0)
	return err
}

// Swap writes v and returns the old value. It blocks and fails as Atomic does.
func Swap[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpSet, peer, off, v, 0)
}

// CompareSwap writes v if the old value equals want, and returns the old value. It blocks and fails as Atomic does.
func CompareSwap[T Number](m *Memory, peer int, off int64, want, v T) (T, error) {
	return Atomic(m, OpCompareSwap, peer, off, want, v)
}

// Add adds v to the number at offset off of peer's segment. It blocks and fails as Atomic does.
func Add[T Number](m *Memory, peer int, off int64, v T) error {
	_, err := Atomic(m, OpAdd, peer, off, v, 0)
	return err
}

// FetchAdd adds v and returns the old value. It blocks and fails as Atomic does.
func FetchAdd[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpAdd, peer, off, v, 0)
}

// FetchSub subtracts v and returns the old value. It blocks and fails as Atomic does.
func FetchSub[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpSub, peer, off, v, 0)
}

// FetchInc adds 1 and returns the old value. It blocks and fails as Atomic does.
func FetchInc[T Number](m *Memory, peer int, off int64) (T, error) {
	return Atomic[T](m, OpInc, peer, off, 0, 0)
}

// FetchDec subtracts 1 and returns the old value. It blocks and fails as Atomic does.
func FetchDec[T Number](m *Memory, peer int, off int64) (T, error) {
	return Atomic[T](m, OpDec, peer, off, 0, 0)
}

// FetchMin writes the smaller of the old value and v, and returns the old value. It blocks and fails as Atomic does.
func FetchMin[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpMin, peer, off, v, 0)
}

// FetchMax writes the larger of the old value and v, and returns the old value. It blocks and fails as Atomic does.
func FetchMax[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpMax, peer, off, v, 0)
}

// FetchAnd clears the bits that v lacks, and returns the old value. It blocks and fails as Atomic does.
func FetchAnd[T Integer](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpAnd, peer, off, v, 0)
}

// FetchOr sets the bits of v, and returns the old value. It blocks and fails as Atomic does.
func FetchOr[T Integer](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpOr, peer, off, v, 0)
}

// FetchXor inverts the bits of v, and returns the old value. It blocks and fails as Atomic does.
func FetchXor[T Integer](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpXor, peer, off, v, 0)
}
