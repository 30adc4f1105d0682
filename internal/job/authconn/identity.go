// Package authconn opens TCP connections between programs that share a key. A stranger costs the called side one hash,
// of a greeting. By TLS 1.3 both sides then prove that they know the key. A Door bounds the connections that have
// proved nothing yet.
package authconn

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"time"
)

// Sizes of the greeting with which a call begins, in bytes: a number, a nonce, and an HMAC of both.
const (
	nonceBytes    = 16
	greetingFront = 4 + nonceBytes
	GreetingBytes = greetingFront + sha256.Size
)

// ErrStranger means that the other end does not know the key, or is not the one that was meant.
var ErrStranger = errors.New("the other side does not belong to this job")

// Identity represents a shared key towards the other holders of it. It never changes, and is safe for concurrent use.
type Identity struct {
	tls      *tls.Config // for both sides of a connection
	greeting []byte      // key of the greeting
}

// New derives an identity from a key. The label names the conversation that follows, with its version. Identities of
// one key with different labels are strangers to each other. curves are those of the handshake: the fastest that keeps
// the conversation secret for long enough. Without any they are those of crypto/tls. The error is that of the key
// derivation or of the certificate.
func New(key []byte, label string, curves ...tls.CurveID) (*Identity, error) {
	seed, err := hkdf.Key(sha256.New, key, nil, label+" identity", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	greeting, err := hkdf.Key(sha256.New, key, nil, label+" greeting", sha256.Size)
	if err != nil {
		return nil, err
	}
	own := ed25519.NewKeyFromSeed(seed)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, own.Public(), own)
	if err != nil {
		return nil, err
	}
	return &Identity{greeting: greeting, tls: &tls.Config{
		MinVersion:             tls.VersionTLS13,
		CurvePreferences:       curves,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: own}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // no authority has signed it: VerifyConnection compares the key
		SessionTicketsDisabled: true, // nothing is sent to the caller but what it waits for
		VerifyConnection: func(cs tls.ConnectionState) error {
			if len(cs.PeerCertificates) > 0 {
				if pub, ok := cs.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && pub.Equal(own.Public()) {
					return nil
				}
			}
			return ErrStranger
		},
	}}, nil
}

// Call begins a call on a new connection: it greets with a number that the other side looks at before the handshake.
// The handshake is done with the first use of the result. The write fits the socket's queue: it does not wait.
func (id *Identity) Call(raw net.Conn, number uint32) (*tls.Conn, error) {
	if _, err := raw.Write(id.Greet(number)); err != nil {
		return nil, err
	}
	return tls.Client(raw, id.tls), nil
}

// Admit takes the greeting of a call. of gives the identity for the caller's number, or nil. A caller without its key
// gets no answer and no handshake, and Admit returns ErrStranger. The greeting may have been overheard. So the caller
// has proved itself only when something has been read from the result. Admit blocks until the greeting has come; the
// caller of Admit sets a deadline.
func Admit(raw net.Conn, of func(number uint32) *Identity) (c *tls.Conn, number uint32, err error) {
	var b [GreetingBytes]byte
	if _, err := io.ReadFull(raw, b[:]); err != nil {
		return nil, 0, err
	}
	number = binary.LittleEndian.Uint32(b[:])
	id := of(number)
	if id == nil || !hmac.Equal(b[greetingFront:], id.mac(b[:greetingFront])) {
		return nil, number, ErrStranger
	}
	return tls.Server(raw, id.tls), number, nil
}

// Greet makes a greeting, of GreetingBytes.
func (id *Identity) Greet(number uint32) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, GreetingBytes), number)[:greetingFront]
	rand.Read(b[4:]) // never fails: crypto/rand ends the process instead
	return append(b, id.mac(b)...)
}

func (id *Identity) mac(front []byte) []byte {
	h := hmac.New(sha256.New, id.greeting)
	h.Write(front)
	return h.Sum(nil)
}

// refusal is no TLS.
const refusal = "golci: this is another job\n"

// Refuse answers a call for which Admit has given ErrStranger, so that a caller who only has another key learns it. It
// does not close raw.
func Refuse(raw net.Conn) { _, _ = raw.Write([]byte(refusal)) }

// IsStranger says that a call has failed with err because the other side does not know the key: it has refused the
// call, has proved another key, or speaks something else than TLS.
func IsStranger(err error) bool {
	var noTLS tls.RecordHeaderError
	return errors.Is(err, ErrStranger) || errors.As(err, &noTLS)
}
