package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
)

const (
	salt          = "golci datagram 2"
	labelCookie   = "cookie"
	labelPair     = "pair"
	labelSequence = "sequence"

	keySize   = 16
	nonceSize = 12
)

// extract turns the job key into the key that all others are expanded from (RFC 5869, section 2.2).
func extract(job []byte) ([]byte, error) { return hkdf.Extract(sha256.New, job, []byte(salt)) }

// deriveCookie makes the eight bytes that every datagram to a rank begins with. The mode is in it, so that ranks which
// disagree about the mode are foreign to each other.
func deriveCookie(prk []byte, mode Mode, dst int) (uint64, error) {
	info := binary.BigEndian.AppendUint32(append([]byte(labelCookie), byte(mode)), uint32(dst))
	b, err := hkdf.Expand(sha256.New, prk, string(info), 8)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(b), nil
}

// pairSecret is what the keys of a pair are expanded from. To know it is to know the job key and one of the two private
// keys (RFC 7748, section 6.1; RFC 5869, section 2.2, with prk as the salt). Go's library refuses a public key of
// small order.
func pairSecret(prk []byte, own *ecdh.PrivateKey, theirs []byte) ([]byte, error) {
	public, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(public)
	if err != nil {
		return nil, err
	}
	return hkdf.Extract(sha256.New, shared, prk)
}

// pair names one direction between two ranks in two of their lives.
type pair struct {
	src, dst       uint32
	srcInc, dstInc uint64
	srcPub, dstPub []byte
}

// info is the last argument of HKDF's expansion: everything that sets one key apart from another.
func (p pair) info(label string, mode Mode, generation uint64) string {
	b := append(make([]byte, 0, 128), label...)
	b = append(b, byte(mode))
	b = binary.BigEndian.AppendUint32(b, p.src)
	b = binary.BigEndian.AppendUint32(b, p.dst)
	b = binary.BigEndian.AppendUint64(b, p.srcInc)
	b = binary.BigEndian.AppendUint64(b, p.dstInc)
	b = append(append(b, p.srcPub...), p.dstPub...)
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

func deriveKey(secret []byte, mode Mode, p pair, generation uint64) (key, error) {
	k := key{gen: generation}
	bits, err := hkdf.Expand(sha256.New, secret, p.info(labelPair, mode, generation), keySize+nonceSize)
	if err != nil {
		return k, err
	}
	block, err := aes.NewCipher(bits[:keySize])
	if err != nil {
		return k, err
	}
	copy(k.iv[:], bits[keySize:])
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
