package rma

import "fmt"

// Strided describes Count blocks of Block bytes each, at distances that may differ on the two sides. The blocks of a
// side do not overlap, so distances are at least Block.
type Strided struct {
	Block, Count  int
	Remote, Local int // distances in bytes from one block's beginning to the next one's
}

// PutStrided puts the blocks of src, the first at its beginning, to peer's segment, the first at offset off, and
// returns when they are there. Blocking and errors as for Put; ErrArgument if s contradicts itself or src.
func (m *Memory) PutStrided(peer int, off int64, src []byte, s Strided) error {
	return m.transferStrided((*Context).PutBulk, peer, off, src, s)
}

// GetStrided is PutStrided the other way round: from peer's segment to dst.
func (m *Memory) GetStrided(peer int, off int64, dst []byte, s Strided) error {
	return m.transferStrided((*Context).Get, peer, off, dst, s)
}

// transfer is the implicit put or get of a Context.
type transfer func(c *Context, peer int, off int64, local []byte) error

func (m *Memory) transferStrided(f transfer, peer int, off int64, local []byte, s Strided) error {
	if err := m.checkStrided(peer, off, len(local), s); err != nil {
		return err
	}
	return m.startEach(s.Count, func(c *Context, i int) error {
		return f(c, peer, off+int64(i*s.Remote), local[i*s.Local:i*s.Local+s.Block])
	})
}

func (m *Memory) checkStrided(peer int, off int64, local int, s Strided) error {
	const most = 1 << 46 // no product below overflows
	if s.Block < 0 || s.Count < 0 || s.Remote < s.Block || s.Local < s.Block || s.Remote > most/max(1, s.Count) ||
		s.Local > most/max(1, s.Count) {
		return fmt.Errorf("%w: rank %d: %+v", ErrArgument, peer, s)
	}
	if s.Count == 0 || s.Block == 0 {
		_, err := m.checkAccess(peer, off, 0)
		return err
	}
	if need := (s.Count-1)*s.Local + s.Block; need > local {
		return fmt.Errorf("%w: rank %d: %+v takes %d bytes, there are %d", ErrArgument, peer, s, need, local)
	}
	_, err := m.checkAccess(peer, off, (s.Count-1)*s.Remote+s.Block)
	return err
}

// Piece is a run of bytes on both sides.
type Piece struct {
	Off   int64 // in the peer's segment
	Local []byte
}

// PutIndexed puts the pieces and returns when all are there. Otherwise as Put; after an ErrBounds nothing has been put.
func (m *Memory) PutIndexed(peer int, pieces []Piece) error {
	return m.transferIndexed((*Context).PutBulk, peer, pieces)
}

// GetIndexed gets the pieces from peer's segment and returns when all are there. Otherwise as PutIndexed.
func (m *Memory) GetIndexed(peer int, pieces []Piece) error {
	return m.transferIndexed((*Context).Get, peer, pieces)
}

func (m *Memory) transferIndexed(f transfer, peer int, pieces []Piece) error {
	for _, p := range pieces {
		if _, err := m.checkAccess(peer, p.Off, len(p.Local)); err != nil {
			return err
		}
	}
	return m.startEach(len(pieces), func(c *Context, i int) error { return f(c, peer, pieces[i].Off, pieces[i].Local) })
}

// startEach starts n implicit operations and waits for them, also where one cannot be started: their memory is the
// caller's.
func (m *Memory) startEach(n int, start func(c *Context, i int) error) (err error) {
	c := Context{m: m}
	for i := 0; i < n && err == nil; i++ {
		err = start(&c, i)
	}
	if end := c.WaitAll(); err == nil {
		err = end
	}
	return err
}
