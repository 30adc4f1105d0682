//go:build unix

package far

import (
	"errors"
	"io"
	"net"
	"time"
)

// conn is the server's connection to a rank on another machine: bytes of its PMI conversation travel in frames.
type conn struct {
	link *link
	rank int
	r    *io.PipeReader
	w    *io.PipeWriter
}

func newConn(l *link, rank int) *conn {
	r, w := io.Pipe()
	return &conn{link: l, rank: rank, r: r, w: w}
}

// feedBytes hands bytes of the rank to the server; it waits until the server has taken them, which is soon.
func (c *conn) feedBytes(b []byte) error {
	_, err := c.w.Write(b)
	if errors.Is(err, io.ErrClosedPipe) { // the server has hung up
		return nil
	}
	return err
}

func (c *conn) endConn() { c.w.Close() }

func (c *conn) Read(b []byte) (int, error) { return c.r.Read(b) }

func (c *conn) Write(b []byte) (int, error) {
	c.link.sendFrame(framePMI, c.rank, b)
	return len(b), nil
}

// Close is the server's hanging up.
func (c *conn) Close() error {
	c.link.sendFrame(framePMIEnd, c.rank, nil)
	return c.r.Close()
}

func (c *conn) LocalAddr() net.Addr              { return addr{} }
func (c *conn) RemoteAddr() net.Addr             { return addr{} }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

type addr struct{}

func (addr) Network() string { return "golci" }
func (addr) String() string  { return "helper" }
