package far

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

// authTime bounds the opening of a connection, up to the proof of who is at its other end. It is long, so that a
// machine that stands still for a while is no stranger.
const authTime = 90 * time.Second

// protocol is changed with anything that head and helper say to each other.
const protocol = 7

// joinTicket is what a helper reads from its standard input, to which only the head can write. It says where to call
// back, and has the key by which helper and head know each other.
type joinTicket struct {
	Protocol int
	Host     int      // number of the machine
	Name     string   // its name
	Addrs    []string // of the head
	Key      []byte   // of this machine and this job's launch; not the key that the ranks share
	Silence  time.Duration
}

// newIdentity is that of a machine's ticket: its helper and the head know each other by it.
func newIdentity(key []byte) (*authconn.Identity, error) {
	return authconn.New(key, fmt.Sprint("golci helper ", protocol))
}

// ticketKeys derives the keys of the machines' tickets from one secret: no machine can call in another's name.
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

// chosen is the first byte of a helper to the head on the connection that it keeps, of those to all addresses at which
// it has reached the head.
const chosen = 1

// admitHelper is the head's side of the opening: it returns the number of the machine that has proved itself. A
// stranger gets no answer, and no handshake. ids are by machine.
func admitHelper(raw net.Conn, ids []*authconn.Identity) (*tls.Conn, int, error) {
	_ = raw.SetDeadline(time.Now().Add(authTime))
	c, host, err := authconn.Admit(raw, func(host uint32) *authconn.Identity {
		if int64(host) >= int64(len(ids)) {
			return nil
		}
		return ids[host]
	})
	if err != nil {
		return nil, 0, err
	}
	var word [1]byte
	if _, err := io.ReadFull(c, word[:]); err != nil {
		return nil, 0, err
	}
	if word[0] != chosen {
		return nil, 0, authconn.ErrStranger
	}
	return c, int(host), raw.SetDeadline(time.Time{})
}

// callHead is the helper's side: it tries all addresses at once, and proves itself to the first that is the head.
func callHead(ctx context.Context, t *joinTicket) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, authTime)
	defer cancel()
	id, err := newIdentity(t.Key)
	if err != nil {
		return nil, err
	}
	type callAttempt struct {
		c   *tls.Conn
		err error
	}
	tries := make(chan callAttempt, len(t.Addrs))
	for _, addr := range t.Addrs {
		go func() {
			c, err := dialHead(ctx, addr, id, t.Host)
			tries <- callAttempt{c, err}
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
	if _, err := found.Write([]byte{chosen}); err != nil {
		found.Close()
		return nil, err
	}
	return found, nil
}

// callBack is the address from which ssh was called, by its SSH_CONNECTION, with the port of addrs. The head may be
// behind a machine that forwards calls, or not know its own addresses.
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

// dialHead connects to addr, greets as machine host, and checks that the head of the job is there.
func dialHead(ctx context.Context, addr string, id *authconn.Identity, host int) (*tls.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c, err := id.Call(raw, uint32(host))
	if err == nil {
		err = c.HandshakeContext(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}
