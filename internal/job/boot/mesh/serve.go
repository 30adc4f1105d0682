package mesh

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

// maxEarly bounds the connections that have proved nothing yet, and authTime their time: together they bound what
// strangers cost.
const (
	maxEarly = 64
	authTime = 10 * time.Second
)

// ping is the length of a frame without a message, which only asks whether the other side is there.
const ping = math.MaxUint32

// watches marks the called rank in the hello of Hold. Such a connection carries nothing.
const watches = 1 << 31

const (
	frameFront  = 8 + 4
	answerBytes = 8
)

// serveConn is the goroutine of a connection that somebody else has made.
func (n *Node) serveConn(raw net.Conn) {
	defer n.dropConn(raw)
	c, from, err := n.admitCaller(raw)
	if err != nil || !n.keepConn(raw) {
		return
	}
	n.replaceConn(from, raw)
	if from < 0 {
		_, _ = c.Read(make([]byte, 1)) // until it ends
		return
	}
	n.receiveFrom(c, from)
}

// admitCaller authenticates the caller of a connection that was accepted. from is the caller's rank, or its
// complement (^rank) if the caller only watches this rank by Hold. A caller without the job's key gets the text of
// authconn.Refuse and no handshake. The result has no deadline. On an error the caller of admitCaller closes raw.
func (n *Node) admitCaller(raw net.Conn) (c *tls.Conn, from int, err error) {
	if err := raw.SetDeadline(time.Now().Add(n.cfg.auth)); err != nil {
		return nil, 0, err
	}
	c, _, err = authconn.Admit(raw, func(uint32) *authconn.Identity { return n.id })
	if err != nil {
		if errors.Is(err, authconn.ErrStranger) {
			authconn.Refuse(raw) // so the caller knows that its rank is not at this address any more
		}
		return nil, 0, err
	}
	var hello [8]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return nil, 0, err
	}
	caller, called := binary.LittleEndian.Uint32(hello[:]), binary.LittleEndian.Uint32(hello[4:])
	if _, err := c.Write(binary.LittleEndian.AppendUint32(nil, uint32(n.cfg.Rank))); err != nil {
		return nil, 0, err
	}
	if int64(called&^watches) != int64(n.cfg.Rank) || int64(caller) >= int64(n.cfg.Size) {
		return nil, 0, authconn.ErrStranger
	}
	if from = int(caller); called&watches != 0 {
		from = ^from
	}
	return c, from, raw.SetDeadline(time.Time{})
}

// replaceConn makes c the connection of a rank, as admitCaller names it. A rank that calls again has given up the
// earlier one.
func (n *Node) replaceConn(from int, c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.in[from]; old != nil {
		old.Close()
	}
	n.in[from] = c
}

// receiveFrom takes the messages of a connection until it ends.
func (n *Node) receiveFrom(c net.Conn, from int) {
	var front [frameFront]byte
	b := make([]byte, maxMessage)
	for {
		if _, err := io.ReadFull(c, front[:]); err != nil {
			return
		}
		number, size := binary.LittleEndian.Uint64(front[:]), binary.LittleEndian.Uint32(front[8:])
		if size != ping {
			if int64(size) > int64(n.cfg.Most) {
				return
			}
			if int(size) > len(b) {
				b = make([]byte, n.cfg.Most)
			}
			if _, err := io.ReadFull(c, b[:size]); err != nil {
				return
			}
			n.takeMessage(from, number, b[:size])
		}
		if _, err := c.Write(front[:answerBytes]); err != nil {
			return
		}
	}
}

// takeMessage passes on a message that has not been taken from another connection before.
func (n *Node) takeMessage(from int, number uint64, b []byte) {
	n.takeMu.Lock()
	defer n.takeMu.Unlock()
	if number > n.last[from] {
		n.last[from] = number
		n.cfg.Take(from, b)
	}
}

// Extra is how many bytes a message takes beyond its own: its frame and the answer to it, without those of TLS and TCP.
const Extra = frameFront + answerBytes
