package boot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/golci/golci/internal/job/boot/mesh"
)

// Errors of a Plane.
var (
	ErrNoPlane = errors.New("golci: no messages beside the conduit on this system")
	errGone    = mesh.ErrGone
)

// maxPlane is the largest message of a Plane in bytes.
const maxPlane = 64

// A packet of a plane, between ranks of one node, is
//
//	sender (4, little endian) | seal (16) | message
//
// The seal is made with the job's key: anybody on the machine can send to an abstract socket.
const (
	planeSeal  = 16
	planeFront = 4 + planeSeal
)

// sealPacket makes the packet that carries b.
func sealPacket(key []byte, from, to int, b []byte) []byte {
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, planeFront+len(b)), uint32(from))
	out = append(out, planeMAC(key, from, to, b)...)
	return append(out, b...)
}

// openPacket checks a packet for rank to, and returns its sender and message.
func openPacket(key []byte, to, size int, d []byte) (from int, b []byte, ok bool) {
	if len(d) < planeFront {
		return 0, nil, false
	}
	sender := binary.LittleEndian.Uint32(d)
	if int64(sender) >= int64(size) {
		return 0, nil, false
	}
	b = d[planeFront:]
	return int(sender), b, hmac.Equal(d[4:planeFront], planeMAC(key, int(sender), to, b))
}

func planeMAC(key []byte, from, to int, b []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "golci plane %d %d ", from, to)
	h.Write(b)
	return h.Sum(nil)[:planeSeal]
}

// planeName is the socket name of a rank.
func planeName(key []byte, rank int) string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "golci plane of %d", rank)
	return "@golci-end-" + hex.EncodeToString(h.Sum(nil)[:12])
}
