package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"
)

// Verdict is what Open found.
type Verdict uint8

const (
	Opened   Verdict = iota // authentic and new
	Short                   // shorter than header and tag
	Foreign                 // not of this job, its mode or its format: the cookie differs
	Stray                   // of this job, but to another rank, or from a rank that does not exist
	Old                     // too far behind the sender's newest to tell whether it is new
	Replayed                // has come before
	Forged                  // the tag is wrong: altered, or made without the pair's key
	Damaged                 // the checksum is wrong, which stands for the tag with Trust
	verdicts
)

var verdictNames = [verdicts]string{"opened", "short", "foreign", "stray", "old", "replayed", "forged", "damaged"}

// String names the verdict.
func (v Verdict) String() string {
	if v < verdicts {
		return verdictNames[v]
	}
	return "unknown"
}

// Box is one rank's end: it opens what comes and makes the Senders. Open belongs to the poller; the rest may be
// called by all.
type Box struct {
	cfg    Config
	prk    []byte
	cookie uint64 // of datagrams to this rank

	publics []byte                   // PublicSize bytes of each rank; none with Trust
	members []atomic.Pointer[member] // by peer; nil until first used
	counts  [verdicts]atomic.Uint64  // by verdict; written by the poller, read by all
	derived atomic.Uint64            // keys derived for receiving; written by the poller

	// Of the poller.
	lastDerived key // derived last, for a source and generation that had not proved authentic then
	spareOf     int
}

// member is what is kept for a peer that something is sent to, or came from.
type member struct {
	sending atomic.Bool            // has a Sender
	secret  atomic.Pointer[[]byte] // pairSecret, once it was needed
	from    *receiver              // of the poller; nil until the peer's first authentic datagram
}

// member of a peer; it is made at first use. It may be called by all.
func (b *Box) member(peer int) *member {
	if m := b.members[peer].Load(); m != nil {
		return m
	}
	b.members[peer].CompareAndSwap(nil, new(member))
	return b.members[peer].Load()
}

// receiver of a peer, nil if there is none. For the poller.
func (b *Box) receiver(peer int) *receiver {
	if m := b.members[peer].Load(); m != nil {
		return m.from
	}
	return nil
}

// public is what a rank has published of its part of the key exchange.
func (b *Box) public(rank int) []byte { return b.publics[rank*PublicSize:][:PublicSize] }

// receiver is what is kept for a peer that sent something.
type receiver struct {
	window  window
	current key // of the newest generation that an authentic datagram had
	before  key // of the one before, for what was overtaken
}

// New makes the end of one rank. The errors match errConfig.
func New(cfg Config) (*Box, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	prk, err := extract(cfg.Key)
	if err != nil {
		return nil, err
	}
	cookie, err := deriveCookie(prk, cfg.Mode, cfg.Rank)
	if err != nil {
		return nil, err
	}
	cfg.Key = nil
	b := &Box{cfg: cfg, prk: prk, cookie: cookie, members: make([]atomic.Pointer[member], cfg.Size)}
	b.cfg.Publics = nil
	if cfg.Mode != Trust {
		b.publics = bytes.Join(cfg.Publics, nil) // what every send would fail for is better known now
		if _, err := b.derive(cfg.Rank, cfg.Rank, 0); err != nil {
			return nil, unusable(err)
		}
	}
	return b, nil
}

// Overhead is how many bytes a datagram has more than its payload: HeaderSize, and TagSize unless the mode is Trust.
func (b *Box) Overhead() int {
	if b.cfg.Mode == Trust {
		return HeaderSize
	}
	return HeaderSize + TagSize
}

func (b *Box) pair(src, dst int) pair {
	p := pair{src: uint32(src), dst: uint32(dst), srcInc: b.cfg.incarnation(src), dstInc: b.cfg.incarnation(dst)}
	if b.cfg.Mode != Trust {
		p.srcPub, p.dstPub = b.public(src), b.public(dst)
	}
	return p
}

// secret is what the keys of this rank's pair with peer come from. It is made when it is first needed, which takes
// about 40 us, and kept: a datagram that names another rank costs that once, and 100 bytes.
func (b *Box) secret(peer int) ([]byte, error) {
	m := b.member(peer)
	if s := m.secret.Load(); s != nil {
		return *s, nil
	}
	s, err := pairSecret(b.prk, b.cfg.Private, b.public(peer))
	if err != nil {
		return nil, err
	}
	m.secret.Store(&s) // another may do the same, with the same result
	return s, nil
}

// derive makes the key from src to dst, one of which is this rank.
func (b *Box) derive(src, dst int, generation uint64) (key, error) {
	peer := src
	if src == b.cfg.Rank {
		peer = dst
	}
	secret, err := b.secret(peer)
	if err != nil {
		return key{}, err
	}
	return deriveKey(secret, b.cfg.Mode, b.pair(src, dst), generation)
}

// ownCookie is what datagrams to this rank begin with, in big-endian order.
func (b *Box) ownCookie() uint64 { return b.cookie }

// Sequence is a number for each direction of each pair that both ends know and that nobody can tell without the job
// key. It may be called by all.
func (b *Box) Sequence(src, dst int) (uint32, error) {
	n, err := hkdf.Expand(sha256.New, b.prk, b.pair(src, dst).info(labelSequence, b.cfg.Mode, 0), 4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(n), nil
}

// Open checks one datagram as it came. If the verdict is Opened it returns the payload, decrypted in place, the rank that
// sent it and its number; with Trust, the low 32 bits of that. With any other verdict the
// rest is zero, and the bytes of a Forged datagram may have been overwritten. It does not block. A datagram without
// the job's cookie costs one comparison; memory is taken only for ranks of the job, once each, when a datagram of
// theirs has proved authentic.
func (b *Box) Open(datagram []byte) (src int, number uint64, payload []byte, v Verdict) {
	src, number, payload, v = b.openDatagram(datagram)
	b.counts[v].Add(1)
	return src, number, payload, v
}

func (b *Box) openDatagram(datagram []byte) (src int, number uint64, payload []byte, v Verdict) {
	overhead := b.Overhead()
	if len(datagram) < overhead {
		return 0, 0, nil, Short
	}
	if binary.BigEndian.Uint64(datagram) != b.cookie {
		return 0, 0, nil, Foreign
	}
	from, to := binary.BigEndian.Uint32(datagram[8:]), binary.BigEndian.Uint32(datagram[12:])
	if uint64(from) >= uint64(b.cfg.Size) || uint64(to) != uint64(b.cfg.Rank) {
		return 0, 0, nil, Stray
	}
	number = binary.BigEndian.Uint64(datagram[16:])
	end := len(datagram) - (overhead - HeaderSize)
	payload = datagram[HeaderSize:end:end]
	if b.cfg.Mode == Trust {
		if uint32(number>>32) != checksum(datagram, nil) {
			return 0, 0, nil, Damaged
		}
		return int(from), uint64(uint32(number)), payload, Opened
	}
	if v := b.authenticate(int(from), number, datagram, end); v != Opened {
		return 0, 0, nil, v
	}
	return int(from), number, payload, Opened
}

// authenticate asks the replay window first, since that is cheaper, and marks the number only when the tag was right.
func (b *Box) authenticate(src int, number uint64, datagram []byte, end int) Verdict {
	r := b.receiver(src)
	if r != nil {
		if v := r.window.verdict(number); v != Opened {
			return v
		}
	}
	k := b.keyFor(r, src, number>>rekeyShift)
	if k == nil || !k.openSealed(b.cfg.Mode, number, datagram, end) {
		return Forged
	}
	if r == nil {
		r = new(receiver)
		b.member(src).from = r
	}
	if k == &b.lastDerived {
		r.adopt(k)
	}
	r.window.markTaken(number)
	return Opened
}

// adopt keeps a key that has proved right. It is never older than both that are there: the window would have refused
// its numbers, being far shorter than a generation.
func (r *receiver) adopt(k *key) {
	if r.current.aead == nil || k.gen > r.current.gen {
		r.before, r.current = r.current, *k
	} else {
		r.before = *k
	}
}

// keyFor finds the key of a generation, or derives it into the spare, where it stays only until the next is derived:
// forged numbers and sources take no memory and never push out a key in use. It returns nil if none can be derived.
func (b *Box) keyFor(r *receiver, src int, generation uint64) *key {
	if r != nil {
		for _, k := range [...]*key{&r.current, &r.before} {
			if k.aead != nil && k.gen == generation {
				return k
			}
		}
	}
	if b.lastDerived.aead != nil && b.spareOf == src && b.lastDerived.gen == generation {
		return &b.lastDerived
	}
	derived, err := b.derive(src, b.cfg.Rank, generation)
	if err != nil {
		return nil
	}
	b.derived.Add(1)
	b.lastDerived, b.spareOf = derived, src
	return &b.lastDerived
}

// openSealed checks the tag behind end and, with Encrypt, decrypts what lies between header and end.
func (k *key) openSealed(mode Mode, number uint64, datagram []byte, end int) bool {
	var err error
	if mode == Encrypt {
		_, err = k.aead.Open(datagram[HeaderSize:HeaderSize], k.nonceFor(number), datagram[HeaderSize:], datagram[:HeaderSize])
	} else {
		_, err = k.aead.Open(nil, k.nonceFor(number), datagram[end:], datagram[:end])
	}
	return err == nil
}

// Stats counts what Open found since New.
type Stats struct {
	Opened, Short, Foreign, Stray, Old, Replayed, Forged, Damaged uint64
	// Derived is how many keys Open has derived. Beyond one for each peer and RekeyAfter datagrams, they were for
	// forgeries.
	Derived uint64
}

// Refused is how many datagrams were not let in.
func (s Stats) Refused() uint64 {
	return s.Short + s.Foreign + s.Stray + s.Old + s.Replayed + s.Forged + s.Damaged
}

// Stats may be called by all; the counts are not of one instant.
func (b *Box) Stats() Stats {
	n := func(v Verdict) uint64 { return b.counts[v].Load() }
	return Stats{
		Opened: n(Opened), Short: n(Short), Foreign: n(Foreign), Stray: n(Stray), Old: n(Old), Replayed: n(Replayed),
		Forged: n(Forged), Damaged: n(Damaged), Derived: b.derived.Load(),
	}
}
