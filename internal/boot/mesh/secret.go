package mesh

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"time"
)

// What is derived from the job's key; the numbers change with anything that the two sides say to each other.
const (
	labelIdentity = "golci mesh identity 1"
	labelGreeting = "golci mesh greeting 1"
)

// Sizes of what a connection begins with, in bytes.
const (
	nonceBytes    = 16
	greetingBytes = nonceBytes + sha256.Size
)

// errStranger: whoever is at the other end is no rank of the job, or not the one that was meant.
var errStranger = errors.New("somebody else is there")

// identity is what the ranks of a job know each other by. All have the same: they trust each other, and say their ranks inside.
type identity struct {
	tls      *tls.Config // for both sides of a connection
	greeting []byte      // key of the greeting
}

func newIdentity(key []byte) (identity, error) {
	seed, err := hkdf.Key(sha256.New, key, nil, labelIdentity, ed25519.SeedSize)
	if err != nil {
		return identity{}, err
	}
	greeting, err := hkdf.Key(sha256.New, key, nil, labelGreeting, sha256.Size)
	if err != nil {
		return identity{}, err
	}
	own := ed25519.NewKeyFromSeed(seed)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, own.Public(), own)
	if err != nil {
		return identity{}, err
	}
	return identity{greeting: greeting, tls: &tls.Config{
		MinVersion:             tls.VersionTLS13,
		CurvePreferences:       []tls.CurveID{tls.X25519}, // half the time of the default, whose secrets outlast exit codes
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
			return errStranger
		},
	}}, nil
}

// greet makes the beginning of a connection.
func (id *identity) greet() []byte {
	b := make([]byte, nonceBytes, greetingBytes)
	rand.Read(b) // never fails: crypto/rand ends the process instead
	return append(b, id.mac(b)...)
}

// greeted says whether b, of greetingBytes, comes from somebody who knows the key, or has seen a greeting before: TLS
// tells them apart.
func (id *identity) greeted(b []byte) bool { return hmac.Equal(b[nonceBytes:], id.mac(b[:nonceBytes])) }

func (id *identity) mac(nonce []byte) []byte {
	h := hmac.New(sha256.New, id.greeting)
	h.Write(nonce)
	return h.Sum(nil)
}
