package far

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame of the connection between the head and a helper is
//
//	length of the rest (4, little endian) | kind (1) | rank or other number (4) | payload
const frameFront = 5 // bytes that the length counts beside the payload

// maxPayload bounds a frame, so that nobody makes the other side allocate.
const maxPayload = 256 << 10

// chunk is how much of a stream or file travels in one frame. The next one waits until that is acknowledged.
const chunk = 32 << 10

// kind is the meaning of a frame. The comment gives the sender, the number and the payload.
type kind uint8

const (
	frameHello  kind = iota + 1 // helper: number of usable cores; JSON of greeting
	frameFile                   // head: a part of the program
	frameFileOK                 // helper: it has been written
	frameStart                  // head: a part of the encoded task; number 1: the last part
	frameNote                   // helper: something to tell with -v
	frameFailed                 // helper: the ranks could not be started, and why
	framePMI                    // both: rank; bytes of its PMI conversation
	framePMIEnd                 // both: rank; it has ended
	frameOut                    // helper: rank; stream (1), and output of the rank, or its part of the timeline
	frameOutOK                  // head: rank; stream (1): the last piece has been taken
	frameIn                     // head: standard input of rank 0; nothing: it has ended
	frameInOK                   // helper: it has been taken; number 1: the rank takes no more
	frameExit                   // helper: rank; JSON of how its process has ended
	frameSignal                 // head: name of a signal for all ranks
	framePause                  // head: it is about to be stopped and will be silent
	framePing                   // both, every second
	frameBye                    // head: all is over
	frameLast
)

// Streams of a rank beside its standard output and error, which are 1 and 2.
const (
	streamPart = 3 // its part of the timeline, after its end
	streams    = 3
)

var errFrame = errors.New("not a frame")

type frame struct {
	kind kind
	num  int
	data []byte
}

// appendTo encodes f. A payload is never above maxPayload.
func (f frame) appendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(frameFront+len(f.data)))
	dst = append(dst, byte(f.kind))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(f.num))
	return append(dst, f.data...)
}

// readFrame reads one frame, whose payload is the caller's.
func readFrame(r io.Reader) (frame, error) {
	var front [4 + frameFront]byte
	if _, err := io.ReadFull(r, front[:]); err != nil {
		return frame{}, err
	}
	n := int64(binary.LittleEndian.Uint32(front[:])) - frameFront
	f := frame{kind: kind(front[4]), num: int(int32(binary.LittleEndian.Uint32(front[5:])))}
	if n < 0 || n > maxPayload || f.kind == 0 || f.kind >= frameLast || f.num < 0 {
		return frame{}, fmt.Errorf("%w: kind %d, number %d, %d bytes", errFrame, f.kind, f.num, n)
	}
	f.data = make([]byte, n)
	_, err := io.ReadFull(r, f.data)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}
