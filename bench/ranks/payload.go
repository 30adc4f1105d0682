package ranks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// checkEvery says which share of the payloads is verified inside a timed loop.
const checkEvery = 64

// ErrPayload says that a message arrived with other bytes than were sent.
var ErrPayload = errors.New("ranks: payload differs")

// put prepares buf for iteration i: every byte when whole, else a stamp on the share that is verified.
func put(buf []byte, i int, whole bool) {
	switch {
	case whole:
		fill(buf, i)
	case i%checkEvery == 0:
		stamp(buf, i)
	}
}

func look(buf []byte, i int, whole bool) error {
	switch {
	case whole:
		return checkFill(buf, i)
	case i%checkEvery == 0:
		return checkStamp(buf, i)
	}
	return nil
}

func pattern(at, i int) byte { return byte(at*31 + at>>8 + i) }

func fill(buf []byte, i int) {
	for at := range buf {
		buf[at] = pattern(at, i)
	}
}

func checkFill(buf []byte, i int) error {
	for at, b := range buf {
		if b != pattern(at, i) {
			return fmt.Errorf("%w: byte %d of %d is %#x, want %#x", ErrPayload, at, len(buf), b, pattern(at, i))
		}
	}
	return nil
}

const stampSize = 8

// stamp writes i at the head, the middle and the tail, in this order, since in a short buffer they overlap.
func stamp(buf []byte, i int) {
	if len(buf) < stampSize {
		for at := range buf {
			buf[at] = byte(i)
		}
		return
	}
	for _, at := range stamps(len(buf)) {
		binary.LittleEndian.PutUint64(buf[at:], uint64(i))
	}
}

func stamps(n int) [3]int { return [3]int{0, (n - stampSize) / 2, n - stampSize} }

func checkStamp(buf []byte, i int) error {
	if len(buf) < stampSize {
		if n := bytes.Count(buf, []byte{byte(i)}); n != len(buf) {
			return fmt.Errorf("%w: message %d has %x", ErrPayload, i, buf)
		}
		return nil
	}
	at := stamps(len(buf))
	check := at[:]
	if len(buf) < 4*stampSize {
		check = at[2:] // the others may be under it
	}
	for _, at := range check {
		if got := binary.LittleEndian.Uint64(buf[at:]); got != uint64(i) {
			return fmt.Errorf("%w: message %d has %#x at byte %d of %d", ErrPayload, i, got, at, len(buf))
		}
	}
	return nil
}
