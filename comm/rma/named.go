package rma

// The atomics by name. Those that return a value fetch the old one. All block, and fail, as Atomic does.

// Load reads the number at offset off of peer's segment.
func Load[T Number](m *Memory, peer int, off int64) (T, error) {
	return Atomic[T](m, OpGet, peer, off, 0, 0)
}

// Store writes v.
func Store[T Number](m *Memory, peer int, off int64, v T) error {
	_, err := Atomic(m, OpSet, peer, off, v, 0)
	return err
}

// Swap writes v and returns the old value.
func Swap[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpSet, peer, off, v, 0)
}

// CompareSwap writes v if the old value equals want, and returns the old value.
func CompareSwap[T Number](m *Memory, peer int, off int64, want, v T) (T, error) {
	return Atomic(m, OpCompareSwap, peer, off, want, v)
}

// Add adds v.
func Add[T Number](m *Memory, peer int, off int64, v T) error {
	_, err := Atomic(m, OpAdd, peer, off, v, 0)
	return err
}

// FetchAdd adds v and returns the old value.
func FetchAdd[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpAdd, peer, off, v, 0)
}

// FetchSub subtracts v and returns the old value.
func FetchSub[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpSub, peer, off, v, 0)
}

// FetchInc adds 1 and returns the old value.
func FetchInc[T Number](m *Memory, peer int, off int64) (T, error) {
	return Atomic[T](m, OpInc, peer, off, 0, 0)
}

// FetchDec subtracts 1 and returns the old value.
func FetchDec[T Number](m *Memory, peer int, off int64) (T, error) {
	return Atomic[T](m, OpDec, peer, off, 0, 0)
}

// FetchMin writes the smaller of the old value and v, and returns the old value.
func FetchMin[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpMin, peer, off, v, 0)
}

// FetchMax writes the larger of the old value and v, and returns the old value.
func FetchMax[T Number](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpMax, peer, off, v, 0)
}

// FetchAnd keeps the bits that v has, too, and returns the old value.
func FetchAnd[T Integer](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpAnd, peer, off, v, 0)
}

// FetchOr adds the bits of v and returns the old value.
func FetchOr[T Integer](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpOr, peer, off, v, 0)
}

// FetchXor turns the bits of v over and returns the old value.
func FetchXor[T Integer](m *Memory, peer int, off int64, v T) (T, error) {
	return Atomic(m, OpXor, peer, off, v, 0)
}
