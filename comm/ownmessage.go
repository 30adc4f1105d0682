package comm

// A large or synchronous message of the rank to itself needs no steps after its envelope: the receive that it meets
// copies the bytes of the send. So the receive is done when the send is, and a receive of a message that is there
// already is done at once.

// ownPiece is how many bytes are packed at once for a copy between buffers of which one or both have holes.
const ownPiece = 64 << 10

// copyOwn copies the message of the send with that number, of this rank, into the receive o. False if the send is over
// meanwhile. As the poller nobody ends the send beside it, which gives its bytes back to the program.
func (s *Server) copyOwn(o *op, id uint64) (ok bool) {
	s.e.AsPoller(func() {
		from := s.ids.Get(id)
		if ok = from != nil && from.send != nil && o.recv.want <= from.size; ok {
			o.placeAll(from, o.recv.want)
		}
	})
	return ok
}

// placeAll puts the first n bytes of the send from into the receive o.
func (o *op) placeAll(from *op, n int64) {
	src := from.packSource()
	if src == nil {
		o.placeBytes(from.data[:n], 0)
		return
	}
	b := make([]byte, min(n, ownPiece))
	for off := int64(0); off < n; off += int64(len(b)) {
		b = b[:min(n-off, ownPiece)]
		src.Pack(b, int(off))
		o.placeBytes(b, int(off))
	}
}
