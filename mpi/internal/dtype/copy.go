package dtype

// Runs from this many bytes on are copied without a buffer between.
const longRun = 256

// Copy sets n packed bytes of dst, from doff on, to those of src from soff on. Nothing is packed where the runs of one
// of the two are long. The two may not share memory.
func Copy(dst, src *Cursor, doff, soff, n int64) {
	switch {
	case n <= 0:
		return
	case src.longRuns():
		src.eachRun(soff, n, func(mem []byte) bool {
			dst.Unpack(mem, int(doff))
			doff += int64(len(mem))
			return true
		})
		return
	case dst.longRuns():
		dst.eachRun(doff, n, func(mem []byte) bool {
			src.Pack(mem, int(soff))
			soff += int64(len(mem))
			return true
		})
		return
	}
	var buf [4096]byte
	for n > 0 {
		b := buf[:min(n, int64(len(buf)))]
		src.Pack(b, int(soff))
		dst.Unpack(b, int(doff))
		k := int64(len(b))
		doff, soff, n = doff+k, soff+k, n-k
	}
}

func (c *Cursor) longRuns() bool { return c.size/max(c.top.pieces, 1) >= longRun }
