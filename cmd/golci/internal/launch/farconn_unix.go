//go:build unix

package launch

import (
	"errors"
	"io"
	"net"
	"time"
)

// farConn is the server's connection to a rank on another machine: bytes of its PMI conversation travel in frames.
type farConn struct {
	link *link
	rank int
	r    *io.PipeReader
	w    *io.PipeWriter
}

func newFarConn(l *link, rank int) *farConn {
	r, w := io.Pipe()
	return &farConn{link: l, rank: rank, r: r, w: w}
}

// feed hands bytes of the rank to the server; it waits until the server has taken them, which is soon.
func (c *farConn) feed(b []byte) error {
	_, err := c.w.Write(b)
	if errors.Is(err, io.ErrClosedPipe) { // the server has hung up
		return nil
	}
	return err
}

func (c *farConn) end() { c.w.Close() }

func (c *farConn) Read(b []byte) (int, error) { return c.r.Read(b) }

func (c *farConn) Write(b []byte) (int, error) {
	c.link.send(framePMI, c.rank, b)
	return len(b), nil
}

// Close is the server's hanging up.
func (c *farConn) Close() error {
	c.link.send(framePMIEnd, c.rank, nil)
	return c.r.Close()
}

func (c *farConn) LocalAddr() net.Addr              { return farAddr{} }
func (c *farConn) RemoteAddr() net.Addr             { return farAddr{} }
func (c *farConn) SetDeadline(time.Time) error      { return nil }
func (c *farConn) SetReadDeadline(time.Time) error  { return nil }
func (c *farConn) SetWriteDeadline(time.Time) error { return nil }

// farAddr is the address of a farConn, which needs none.
type farAddr struct{}

func (farAddr) Network() string { return "golci" }
func (farAddr) String() string  { return "helper" }
