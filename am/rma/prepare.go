package rma

import (
	"fmt"
	"slices"
)

// Prepared is a payload that is written in place before it is put: in the peer's segment itself where that is reached
// directly, otherwise in a buffer of this package. It is ended by one Commit or Cancel.
type Prepared struct {
	Buf []byte // for the caller to fill; its length was negotiated

	m    *Memory
	t    *target // of a put
	dst  int     // of a Medium
	off  int64
	h    uint8
	kept *[]byte // Buf's memory, nil if it is the segment
}

// PreparePut negotiates a put to offset off of peer's segment: Buf has as many bytes as can be had at once, at least
// least and at most most. Where the segment is reached directly the bytes get there while they are written, but nobody
// may rely on that before the Commit. ErrArgument if least is too large; other errors as for Put.
func (m *Memory) PreparePut(peer int, off int64, least, most int) (Prepared, error) {
	t, err := m.checkAccess(peer, off, most)
	if err != nil {
		return Prepared{}, err
	}
	return m.prepareBytes(Prepared{m: m, t: t, off: off}, peer, least, most)
}

// PrepareMedium is PreparePut for the payload of a Medium request of am to handler h of peer.
func (m *Memory) PrepareMedium(peer int, h uint8, least, most int) (Prepared, error) {
	if uint(peer) >= uint(len(m.peers)) {
		return Prepared{}, m.rankError(peer)
	}
	return m.prepareBytes(Prepared{m: m, dst: peer, h: h}, peer, least, most)
}

// prepareBytes gives p its bytes.
func (m *Memory) prepareBytes(p Prepared, peer, least, most int) (Prepared, error) {
	switch {
	case least < 0 || least > most:
		return Prepared{}, fmt.Errorf("%w: rank %d: payload of %d to %d bytes", ErrArgument, peer, least, most)
	case p.t != nil && p.t.mem != nil:
		p.Buf = slices.Clip(p.t.bytesAt(p.off, most))
		return p, nil
	case least > m.frag:
		return Prepared{}, fmt.Errorf("%w: rank %d: payload of at least %d bytes, the most is %d", ErrArgument,
			peer, least, m.frag)
	}
	p.kept = m.pool.Get().(*[]byte)
	p.Buf = (*p.kept)[:min(most, m.frag)]
	return p, nil
}

// Commit puts the first n bytes of Buf, which must not be used any more. It does not wait. See PutNBBulk.
func (p *Prepared) Commit(n int) (Handle, error) {
	if err := p.checkCommit(n); err != nil {
		return Handle{}, err
	}
	m, t, kept := p.m, p.t, p.kept
	if t == nil {
		return Handle{}, fmt.Errorf("%w: rank %d: a prepared Medium is ended by CommitMedium", ErrArgument, p.dst)
	}
	if kept == nil || n == 0 {
		p.Cancel()
		return Handle{}, nil
	}
	o, err := m.newTransfer(t, p.off, (*kept)[:n], nil)
	if err != nil {
		return Handle{}, err
	}
	o.bounce = kept
	m.kept.Add(int64(n))
	*p = Prepared{}
	return m.launchIn(o, nil, false)
}

// CommitMedium sends the first n bytes of Buf with args, and ends the use of Buf. It blocks as am's RequestMedium.
func (p *Prepared) CommitMedium(n int, args ...uint64) error {
	if err := p.checkCommit(n); err != nil {
		return err
	}
	if p.t != nil {
		return fmt.Errorf("%w: rank %d: a prepared put is ended by Commit", ErrArgument, p.t.rank)
	}
	err := p.m.e.RequestMedium(p.dst, p.h, p.Buf[:n], args...)
	p.Cancel()
	return err
}

func (p *Prepared) checkCommit(n int) error {
	if p.m == nil {
		return fmt.Errorf("%w: nothing is prepared", ErrArgument)
	}
	if n < 0 || n > len(p.Buf) {
		return fmt.Errorf("%w: commit of %d bytes, %d are prepared", ErrArgument, n, len(p.Buf))
	}
	return nil
}

// Cancel gives the payload up. What was written to a segment that is reached directly stays there.
func (p *Prepared) Cancel() {
	if p.kept != nil {
		p.m.pool.Put(p.kept)
	}
	*p = Prepared{}
}
