package seal

import (
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
)

// Mode says how far the network is trusted. All ranks of a job have the same; datagrams of another mode are foreign.
type Mode uint8

const (
	Encrypt      Mode = iota // AES-128-GCM: secret and authentic; the default
	Authenticate             // GMAC: the payload travels in clear and is authentic
	Trust                    // neither tag nor replay window: the job's cookie, the two ranks and a checksum are compared
)

// String names the mode.
func (m Mode) String() string {
	switch m {
	case Encrypt:
		return "encrypt"
	case Authenticate:
		return "authenticate"
	case Trust:
		return "trust"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// ParseMode reads what String writes.
func ParseMode(s string) (Mode, error) {
	for m := Encrypt; m <= Trust; m++ {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("seal: unknown mode %q; want encrypt, authenticate or trust", s)
}

const (
	// HeaderSize is what a datagram has before its payload.
	HeaderSize = 24
	// TagSize is what it has behind the payload, except with Trust.
	TagSize = 16
	// MinKey is the length in bytes of the shortest job key that New takes.
	MinKey = 16
	// RekeyAfter is how many numbers share a key.
	RekeyAfter = 1 << rekeyShift

	rekeyShift = 22
)

// Config describes one rank's end.
type Config struct {
	// Key is the secret of the job, at least MinKey random bytes, the same on all ranks. New does not keep it.
	Key []byte
	// Private is this rank's part of the key exchange, as NewPrivate draws it when the process starts; Publics are
	// what all ranks have published of theirs (Private.PublicKey().Bytes()), by rank. Neither is used with Trust. New
	// does not keep Publics.
	Private *ecdh.PrivateKey
	Publics [][]byte
	// Rank is this rank, Size the number of ranks in the job.
	Rank, Size int
	// Incarnations tells each rank's life, by rank: a number that each process draws at random when it starts, and
	// that all learn over the bootstrap. It keeps numbers that begin anew from meeting an old key, and old datagrams
	// from being taken after a restart. nil is right only where a job key is never used for a second job. New does
	// not copy it: it must not change while the Box is in use.
	Incarnations []uint64
	// Mode is the protection.
	Mode Mode
}

// errConfig is matched by every error of New.
var errConfig = errors.New("seal: bad configuration")

func (c *Config) checkConfig() error {
	switch {
	case len(c.Key) < MinKey:
		return fmt.Errorf("%w: the job key has %d bytes, the least is %d", errConfig, len(c.Key), MinKey)
	case c.Size <= 0 || int64(c.Size) > math.MaxUint32:
		return fmt.Errorf("%w: %d ranks", errConfig, c.Size)
	case c.Rank < 0 || c.Rank >= c.Size:
		return fmt.Errorf("%w: rank %d of %d", errConfig, c.Rank, c.Size)
	case c.Incarnations != nil && len(c.Incarnations) != c.Size:
		return fmt.Errorf("%w: %d incarnations for %d ranks", errConfig, len(c.Incarnations), c.Size)
	case c.Mode > Trust:
		return fmt.Errorf("%w: %v", errConfig, c.Mode)
	case c.Mode == Trust:
		return nil
	case c.Private == nil || c.Private.Curve() != ecdh.X25519():
		return fmt.Errorf("%w: no private key of X25519", errConfig)
	case len(c.Publics) != c.Size:
		return fmt.Errorf("%w: %d public keys for %d ranks", errConfig, len(c.Publics), c.Size)
	}
	for r, k := range c.Publics {
		if len(k) != PublicSize {
			return fmt.Errorf("%w: the public key of rank %d has %d bytes, want %d; do all ranks have mode %v?",
				errConfig, r, len(k), PublicSize, c.Mode)
		}
	}
	return nil
}

// PublicSize is the length in bytes of what a rank publishes of its part of the key exchange.
const PublicSize = 32

// NewPrivate draws a rank's part of the key exchange, which must not outlive the process. The error matches
// errConfig: this process may not use X25519, as with GODEBUG=fips140=only.
func NewPrivate() (*ecdh.PrivateKey, error) {
	k, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, unusable(err)
	}
	return k, nil
}

// unusable says that the library refuses what the modes with tags need.
func unusable(err error) error {
	return fmt.Errorf("%w: this process may not use X25519 and AES-GCM with nonces of its own (%w): "+
		"only mode %v can do without", errConfig, err, Trust)
}

func (c *Config) incarnation(rank int) uint64 {
	if c.Incarnations == nil {
		return 0
	}
	return c.Incarnations[rank]
}
