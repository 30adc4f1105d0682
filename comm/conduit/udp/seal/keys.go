package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
)

const (
	salt        = "golci datagram 1"
	labelCookie = "cookie"
	labelPair   = "pair"

	keySize   = 16
	nonceSize = 12
)

// extract turns the job key into the key that all others are expanded from (RFC 5869, section 2.2).
func extract(job []byte) ([]byte, error) { return hkdf.Extract(sha256.New, job, []byte(salt)) }

// deriveCookie makes the eight bytes that every datagram of the job begins with. The mode is in it, so that ranks which
// disagree about the mode are foreign to each other.
func deriveCookie(prk []byte, mode Mode) (uint64, error) {
	b, err := hkdf.Expand(sha256.New, prk, labelCookie+string([]byte{byte(mode)}), 8)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(b), nil
}

// pair names one direction between two ranks in two of their lives.
type pair struct {
	src, dst       uint32
	srcInc, dstInc uint64
}

// info is the last argument of HKDF's expansion: everything that sets one key apart from another.
func (p pair) info(mode Mode, generation uint64) string {
	b := append(make([]byte, 0, 64), labelPair...)
	b = append(b, byte(mode))
	b = binary.BigEndian.AppendUint32(b, p.src)
	b = binary.BigEndian.AppendUint32(b, p.dst)
	b = binary.BigEndian.AppendUint64(b, p.srcInc)
	b = binary.BigEndian.AppendUint64(b, p.dstInc)
	b = binary.BigEndian.AppendUint64(b, generation)
	return string(b)
}

// key is what protects RekeyAfter numbers of one direction. Its owner is the owner of the Sender or Box it is in.
type key struct {
	aead  cipher.AEAD // nil: no key
	gen   uint64
	iv    [nonceSize]byte
	nonce [nonceSize]byte // scratch, here because an argument to an interface's method would go to the heap
}

func deriveKey(prk []byte, mode Mode, p pair, generation uint64) (key, error) {
	k := key{gen: generation}
	secret, err := hkdf.Expand(sha256.New, prk, p.info(mode, generation), keySize+nonceSize)
	if err != nil {
		return k, err
	}
	block, err := aes.NewCipher(secret[:keySize])
	if err != nil {
		return k, err
	}
	copy(k.iv[:], secret[keySize:])
	k.aead, err = cipher.NewGCM(block)
	return k, err
}

// nonceFor mixes the number into the key's own start value, as RFC 8446, section 5.3, does.
func (k *key) nonceFor(number uint64) []byte {
	k.nonce = k.iv
	at := k.nonce[nonceSize-8:]
	binary.BigEndian.PutUint64(at, binary.BigEndian.Uint64(at)^number)
	return k.nonce[:]
}
