package shm

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/authconn"
)

// The exchange over one connection is in packets. The higher rank sends its hello. The lower checks it, and answers
// with its own. Then each sends its memfd. Later each says farewell.

const (
	helloMagic = "golci/shm/1"
	farewell   = "bye"
	nameBytes  = 12 // of the hash in a socket's name
)

// hello opens a connection.
type hello struct {
	from, to int
	fence    bool // the process takes part in membarriers
}

const helloBody = len(helloMagic) + 4 + 4 + 1

func (h hello) encode(key string) []byte {
	b := append(make([]byte, 0, helloBody+sha256.Size), helloMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.to))
	fence := byte(0)
	if h.fence {
		fence = 1
	}
	b = append(b, fence)
	return append(b, proof(key, b)...)
}

func decodeHello(b []byte, key string) (hello, error) {
	if len(b) != helloBody+sha256.Size || !bytes.HasPrefix(b, []byte(helloMagic)) {
		return hello{}, errors.New("not a hello of this version")
	}
	if !hmac.Equal(b[helloBody:], proof(key, b[:helloBody])) {
		return hello{}, errors.New("it does not know the job's key")
	}
	n := len(helloMagic)
	return hello{
		from:  int(binary.LittleEndian.Uint32(b[n:])),
		to:    int(binary.LittleEndian.Uint32(b[n+4:])),
		fence: b[n+8] == 1,
	}, nil
}

func proof(key string, b []byte) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write(b)
	return h.Sum(nil)
}

// socketName is the abstract address of a rank. It can be seen in /proc once it is bound, but nobody without the key
// can tell that of a rank that is yet to come.
func socketName(c *Config, rank int) *net.UnixAddr {
	h := hmac.New(sha256.New, []byte(c.Key))
	fmt.Fprintf(h, "golci shm socket of rank %d of %s", rank, c.JobID)
	return &net.UnixAddr{Name: "@golci-shm-" + hex.EncodeToString(h.Sum(nil)[:nameBytes]), Net: "unixpacket"}
}

// holder says who has bound addr, for the error of a rank that cannot.
func holder(addr *net.UnixAddr) string {
	c, err := net.DialUnix("unixpacket", nil, addr)
	if err != nil {
		return fmt.Sprintf("a process that does not take calls (%v)", err)
	}
	defer c.Close()
	pid, err := authconn.SameUser(c)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("process %d of this user, which has the same rank in the same job", pid)
}

// sendPacket sends b, with f's descriptor if f is not nil.
func sendPacket(c *net.UnixConn, b []byte, f *os.File) error {
	var oob []byte
	if f != nil {
		oob = unix.UnixRights(int(f.Fd()))
	}
	_, _, err := c.WriteMsgUnix(b, oob, nil)
	return err
}

// receivePacket returns a packet and the file that came with it, or nil. The caller closes the file.
func receivePacket(c *net.UnixConn) ([]byte, *os.File, error) {
	b, oob := make([]byte, 256), make([]byte, unix.CmsgSpace(4*8))
	n, oobn, flags, _, err := c.ReadMsgUnix(b, oob)
	if err != nil {
		return nil, nil, err
	}
	files, err := received(oob[:oobn])
	if err != nil {
		return nil, nil, err
	}
	switch {
	case flags&unix.MSG_CTRUNC != 0:
		err = os.NewSyscallError("recvmsg: the descriptor that came is lost", unix.EMFILE)
	case n == 0:
		err = errors.New("the other side hung up")
	case len(files) > 0:
		closeFiles(files[1:]...)
		return b[:n], files[0], nil
	}
	closeFiles(files...)
	return b[:n], nil, err
}

func received(oob []byte) (files []*os.File, err error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue // another kind of message
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "memfd:golci"))
		}
	}
	return files, nil
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // never written to; nil fails
	}
}
