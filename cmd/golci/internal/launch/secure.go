package launch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"time"
)

// authTime bounds the opening of a connection, up to the proof of who is at its other end. It is long, so that a
// machine that stands still for a while is no stranger.
const authTime = 90 * time.Second

// protocol is changed with anything that head and helper say to each other.
const protocol = 3

// ticket is what a helper learns from its standard input, which only the head can write to: where to call back, by
// what to know the head, and by what to be known.
type ticket struct {
	Protocol int
	Host     int      // number of the machine
	Name     string   // its name
	Addrs    []string // of the head
	Cert     []byte   // SHA-256 of the head's certificate
	Key      []byte   // of this machine and this job's launch; not the key that the ranks share
	Silence  time.Duration
}

var errTicket = errors.New("the other side does not belong to this job")

// identity makes a certificate for one job, and its fingerprint.
func identity() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	sum := sha256.Sum256(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, sum[:], nil
}

// ticketKeys derives the key of each machine's ticket from the secret of a launch: no machine can call in another's
// name.
func ticketKeys(secret []byte, hosts int) ([][]byte, error) {
	keys := make([][]byte, hosts)
	for host := range keys {
		var err error
		if keys[host], err = hkdf.Key(sha256.New, secret, nil, fmt.Sprintf("golci ticket of machine %d", host), sha256.Size); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Sizes of the greeting with which a helper's call begins, in bytes: the number of the machine, a nonce, and an HMAC.
const (
	nonceBytes    = 16
	greetingFront = 4 + nonceBytes
	greetingBytes = greetingFront + sha256.Size
)

// greet makes the greeting of machine host, whose key it has.
func greet(key []byte, host int) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, greetingBytes), uint32(host))
	b = b[:greetingFront]
	rand.Read(b[4:]) // never fails: crypto/rand ends the process instead
	return append(b, greetingMAC(key, b)...)
}

func greetingMAC(key, front []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprint(h, "golci helper calls ")
	h.Write(front)
	return h.Sum(nil)
}

// greeted returns the number of the machine whose helper has made the greeting b, or has been overheard: the proof
// tells them apart. It costs one hash.
func greeted(b []byte, keys [][]byte) (host int, err error) {
	n := binary.LittleEndian.Uint32(b)
	if int64(n) >= int64(len(keys)) || !hmac.Equal(b[greetingFront:], greetingMAC(keys[n], b[:greetingFront])) {
		return 0, errTicket
	}
	return int(n), nil
}

// proof shows that the helper of a machine knows its key, on this connection and no other.
func proof(c *tls.Conn, key []byte) ([]byte, error) {
	st := c.ConnectionState()
	bound, err := st.ExportKeyingMaterial("EXPORTER golci helper", nil, sha256.Size)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprint(h, "golci helper ")
	h.Write(bound)
	return h.Sum(nil), nil
}

// admit is the head's side of the opening: it returns the number of the machine that has proved itself. A stranger
// gets no answer, and no handshake.
func admit(raw net.Conn, cert tls.Certificate, keys [][]byte) (*tls.Conn, int, error) {
	_ = raw.SetDeadline(time.Now().Add(authTime))
	var greeting [greetingBytes]byte
	if _, err := io.ReadFull(raw, greeting[:]); err != nil {
		return nil, 0, err
	}
	host, err := greeted(greeting[:], keys)
	if err != nil {
		return nil, 0, err
	}
	c := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true})
	var got [sha256.Size]byte
	if _, err := io.ReadFull(c, got[:]); err != nil {
		return nil, 0, err
	}
	want, err := proof(c, keys[host])
	if err == nil && !hmac.Equal(got[:], want) {
		err = errTicket
	}
	_ = raw.SetDeadline(time.Time{})
	return c, host, err
}

// call is the helper's side: it tries all addresses of the head at once, and proves itself to the first that is the
// head.
func call(ctx context.Context, t *ticket) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, authTime)
	defer cancel()
	type try struct {
		c   *tls.Conn
		err error
	}
	tries := make(chan try, len(t.Addrs))
	for _, addr := range t.Addrs {
		go func() {
			c, err := dialHead(ctx, addr, t)
			tries <- try{c, err}
		}()
	}
	var found *tls.Conn
	var errs []error
	for range t.Addrs {
		r := <-tries
		switch {
		case r.err != nil:
			errs = append(errs, r.err)
		case found == nil:
			found = r.c
			cancel() // the others are not needed
		default:
			r.c.Close()
		}
	}
	if found == nil {
		return nil, fmt.Errorf("cannot reach the head: %w", errors.Join(errs...))
	}
	p, err := proof(found, t.Key)
	if err == nil {
		_, err = found.Write(p)
	}
	if err != nil {
		found.Close()
		return nil, err
	}
	return found, nil
}

// callBack is the address from which ssh was called, by its SSH_CONNECTION, with the port that addrs have: the head
// may be behind a machine that passes calls on, or not know its own addresses. It returns none when there is none, or
// the head has only one.
func callBack(connection string, addrs []string) []string {
	from := strings.Fields(connection)
	if len(from) != 4 || len(addrs) < 2 {
		return nil
	}
	_, port, err := net.SplitHostPort(addrs[0])
	addr := net.JoinHostPort(from[0], port)
	if err != nil || slices.Contains(addrs, addr) {
		return nil
	}
	return []string{addr}
}

// dialHead connects to addr, greets, and checks that the head of the job is there.
func dialHead(ctx context.Context, addr string, t *ticket) (*tls.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := tls.Client(raw, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // the certificate is known by its fingerprint, which VerifyPeerCertificate compares
		VerifyPeerCertificate: func(chain [][]byte, _ [][]*x509.Certificate) error {
			if len(chain) > 0 {
				if sum := sha256.Sum256(chain[0]); hmac.Equal(sum[:], t.Cert) {
					return nil
				}
			}
			return errTicket
		},
	})
	if _, err = raw.Write(greet(t.Key, t.Host)); err == nil { // it fits the socket's queue: it does not wait
		err = c.HandshakeContext(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}
