package credit

// Later32 merges two notes of 32 bits of one pair when it is not known which is newer. It takes the later of each
// count. stale tells that b has nothing newer than a.
func Later32(a, b uint32) (note uint32, stale bool) {
	returned := (b - a) & returnedMask
	granted := (b>>returnedBits - a>>returnedBits) & grantedMask
	newer := returned != 0 && returned <= returnedMask/2
	more := granted != 0 && granted <= grantedMask/2
	note = a
	if newer {
		note = note&^returnedMask | b&returnedMask
	}
	if more {
		note = note&returnedMask | b&^returnedMask
	}
	return note, !newer && !more && a != b
}

// Least returns how many credits every pair can use at all times, which bounds the cost of a record. It is Min where
// loans follow demand, PerPeer where they are fixed, and MaxCost without flow control.
func (c *Config) Least() int {
	switch c.Mode {
	case Dynamic:
		return c.Min
	case Fixed:
		return c.PerPeer
	}
	return MaxCost
}
