package launch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
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

// authTime bounds the opening of a connection, up to the proof of who is at its other end. It is long, so that a machine that stands
// still for a while is no stranger.
const authTime = 90 * time.Second

// protocol is changed with anything that head and helper say to each other.
const protocol = 2

// ticket is what a helper learns from its standard input, which only the head can write to: where to call back, by what to
// know the head, and by what to be known.
type ticket struct {
	Protocol int
	Host     int      // number of the machine
	Name     string   // its name
	Addrs    []string // of the head
	Cert     []byte   // SHA-256 of the head's certificate
	Secret   []byte   // of the job's launch; not the key that the ranks share
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

// proof shows that the helper of a machine knows the secret, on this connection and no other.
func proof(c *tls.Conn, secret []byte, host int) ([]byte, error) {
	st := c.ConnectionState()
	bound, err := st.ExportKeyingMaterial("EXPORTER golci helper", nil, sha256.Size)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "golci helper %d ", host)
	h.Write(bound)
	return binary.LittleEndian.AppendUint32(h.Sum(nil), uint32(host)), nil
}

// admit is the head's side of the opening: it returns the number of the machine that has proved itself.
func admit(raw net.Conn, cert tls.Certificate, secret []byte, hosts int) (*tls.Conn, int, error) {
	c := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true})
	_ = raw.SetDeadline(time.Now().Add(authTime))
	got := make([]byte, sha256.Size+4)
	if _, err := io.ReadFull(c, got); err != nil {
		return nil, 0, err
	}
	host := int(binary.LittleEndian.Uint32(got[sha256.Size:]))
	if host >= hosts {
		return nil, 0, errTicket
	}
	want, err := proof(c, secret, host)
	if err == nil && !hmac.Equal(got, want) {
		err = errTicket
	}
	_ = raw.SetDeadline(time.Time{})
	return c, host, err
}

// call is the helper's side: it tries all addresses of the head at once, and proves itself to the first that is the head.
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
			c, err := dialHead(ctx, addr, t.Cert)
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
	p, err := proof(found, t.Secret, t.Host)
	if err == nil {
		_, err = found.Write(p)
	}
	if err != nil {
		found.Close()
		return nil, err
	}
	return found, nil
}

// callBack is the address from which ssh was called, by its SSH_CONNECTION, with the port that addrs have: the head may be behind a
// machine that passes calls on, or not know its own addresses. It returns none when there is none, or the head has only one.
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

// dialHead connects to addr and checks that the head of the job is there.
func dialHead(ctx context.Context, addr string, cert []byte) (*tls.Conn, error) {
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
				if sum := sha256.Sum256(chain[0]); hmac.Equal(sum[:], cert) {
					return nil
				}
			}
			return errTicket
		},
	})
	if err := c.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}
