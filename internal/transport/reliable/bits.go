package reliable

// after tells whether sequence number a comes after b. They are never 2^31 or more apart.
func after(a, b uint32) bool { return int32(a-b) > 0 }

// bitmap has a bit for each sequence number of a window, at its number modulo Window.
type bitmap [sackWords]uint64

func (m *bitmap) hasSeq(seq uint32) bool { return m[seq%Window/64]>>(seq%64)&1 != 0 }
func (m *bitmap) setSeq(seq uint32)      { m[seq%Window/64] |= 1 << (seq % 64) }
func (m *bitmap) clear(seq uint32)       { m[seq%Window/64] &^= 1 << (seq % 64) }

// wordFrom returns the 64 bits of the sequence numbers from seq on; bit 0 is that of seq. It wraps at Window.
func (m *bitmap) wordFrom(seq uint32) uint64 {
	i, s := seq%Window/64, seq%64
	w := m[i] >> s
	if s != 0 {
		w |= m[(i+1)%sackWords] << (64 - s)
	}
	return w
}
