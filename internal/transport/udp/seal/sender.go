package seal

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golci/golci/internal/platform/crc32c"
)

// Sender seals what goes to one peer. Its owner is the holder of the pair's send lock.
type Sender struct {
	box    *Box
	dst    int
	cookie uint64 // of datagrams to dst
	next   uint64 // least number that may be used
	done   bool   // the last number there is was used
	key    key
}

var (
	// errNumber: the number is not greater than the last. Nothing was sealed.
	errNumber = errors.New("seal: a packet number would be used again")
	// errBuffer: the buffer has no room for header and tag. Nothing was sealed.
	errBuffer = errors.New("seal: buffer too short for header and tag")
)

// Sender returns a new sealing end for datagrams to dst. There may be one only for each peer in the life of a Box: a
// second one would use numbers again, so it is refused. Safe for concurrent use; does not block.
func (b *Box) Sender(dst int) (*Sender, error) {
	if dst < 0 || dst >= b.cfg.Size {
		return nil, fmt.Errorf("%w: no rank %d in a job of %d", errConfig, dst, b.cfg.Size)
	}
	if b.member(dst).sending.Swap(true) {
		return nil, fmt.Errorf("%w: rank %d has a sender already", errConfig, dst)
	}
	cookie, err := deriveCookie(b.prk, b.cfg.Mode, dst)
	if err != nil {
		return nil, err
	}
	return &Sender{box: b, dst: dst, cookie: cookie}, nil
}

// Seal protects one datagram in place. datagram is all that is to travel: HeaderSize bytes that Seal fills in, the
// payload, and Overhead-HeaderSize bytes for the tag, which Seal fills in. number must be greater than that of every
// call before; the errors are errNumber and errBuffer. Seal does not block, and allocates only where a new key
// begins.
func (s *Sender) Seal(datagram []byte, number uint64) error {
	return s.SealParts(datagram, nil, number)
}

// SealParts is Seal for a datagram whose end lies elsewhere, in tail, which is only read. Only with Trust may tail
// have bytes; else the error is errBuffer.
func (s *Sender) SealParts(datagram, tail []byte, number uint64) error {
	if number < s.next || s.done {
		return fmt.Errorf("%w: %d after %d to rank %d", errNumber, number, s.next-1, s.dst)
	}
	overhead, mode := s.box.Overhead(), s.box.cfg.Mode
	if len(datagram) < overhead || len(tail) > 0 && mode != Trust {
		return errBuffer
	}
	if mode != Trust && (s.key.aead == nil || s.key.gen != number>>rekeyShift) {
		if err := s.rekey(number >> rekeyShift); err != nil {
			return err
		}
	}
	s.next, s.done = number+1, number+1 == 0
	putHeader(datagram, s.cookie, uint32(s.box.cfg.Rank), uint32(s.dst), number)
	end := len(datagram) - (overhead - HeaderSize)
	switch mode {
	case Encrypt:
		payload := datagram[HeaderSize:end]
		s.key.aead.Seal(payload[:0], s.key.nonceFor(number), payload, datagram[:HeaderSize])
	case Authenticate:
		s.key.aead.Seal(datagram[end:end], s.key.nonceFor(number), nil, datagram[:end])
	case Trust:
		binary.BigEndian.PutUint32(datagram[checksumAt:], checksum(datagram, tail))
	}
	return nil
}

// Addressee is the rank that a datagram names as its receiver; -1 if it is shorter than HeaderSize. Nothing is checked.
func Addressee(datagram []byte) int {
	if len(datagram) < HeaderSize {
		return -1
	}
	return int(binary.BigEndian.Uint32(datagram[12:]))
}

// Sent tells the number of the datagram that begins with head, if s may have sealed it: a host that has not seen it
// cannot have guessed the cookie. head has at least HeaderSize bytes, of which more are not looked at.
func (s *Sender) Sent(head []byte) (number uint64, ok bool) {
	if len(head) < HeaderSize || binary.BigEndian.Uint64(head) != s.cookie || Addressee(head) != s.dst ||
		int(binary.BigEndian.Uint32(head[8:])) != s.box.cfg.Rank {
		return 0, false
	}
	number = binary.BigEndian.Uint64(head[16:])
	if s.box.cfg.Mode == Trust { // it has the low half; the last that was sealed is meant
		last := s.next - 1
		number = last - uint64(uint32(last)-uint32(number))
	}
	return number, number < s.next
}

func (s *Sender) rekey(generation uint64) (err error) {
	s.key, err = s.box.derive(s.box.cfg.Rank, s.dst, generation)
	return err
}

// checksumAt is where the checksum of a datagram is with Trust: in place of the high half of its number.
const checksumAt = 16

// checksum is the CRC-32C (RFC 3385) of a datagram in two parts, but for the place of the checksum itself.
func checksum(datagram, tail []byte) uint32 {
	sum := crc32c.Update(0, datagram[:checksumAt])
	sum = crc32c.Update(sum, datagram[checksumAt+4:])
	return crc32c.Update(sum, tail)
}

func putHeader(b []byte, cookie uint64, src, dst uint32, number uint64) {
	_ = b[HeaderSize-1]
	binary.BigEndian.PutUint64(b, cookie)
	binary.BigEndian.PutUint32(b[8:], src)
	binary.BigEndian.PutUint32(b[12:], dst)
	binary.BigEndian.PutUint64(b[16:], number)
}
