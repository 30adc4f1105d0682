package console

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// limitPipe limits a pipe to one piece: then it can be written when the last piece has been read.
func limitPipe(w *os.File) {
	_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, lineMost) // else more than a line is under way
}

// isTaken waits until the rank has read all that it was sent. False: the job is over.
func (i *Input) isTaken() bool { return i.waitFor(int(i.ours.Fd()), unix.POLLOUT, forever) == ready }

// giveBack puts text before all that has been typed and not been read. The kernel puts a character behind the others.
// So all are read first, also those of a line without an end, and then put back. The user has seen them already.
func giveBack(tty int, text []byte) (err error) {
	old, err := unix.IoctlGetTermios(tty, unix.TCGETS)
	if err != nil {
		return err
	}
	defer func() { _ = unix.IoctlSetTermios(tty, unix.TCSETS, old) }() // it could be changed a moment ago
	raw := *old
	raw.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.ISIG
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(tty, unix.TCSETS, &raw); err != nil {
		return err
	}
	if err := typeByte(tty, probe); err != nil {
		return fmt.Errorf("the kernel does not take it: TIOCSTI: %w", err)
	}
	rest := readAll(tty)
	if n := len(rest); n > 0 && rest[n-1] == probe {
		rest = rest[:n-1]
	}
	raw.Lflag |= old.Lflag & unix.ICANON
	raw.Cc = old.Cc
	if err := unix.IoctlSetTermios(tty, unix.TCSETS, &raw); err != nil {
		return err
	}
	for _, b := range append(text, rest...) {
		if err := typeByte(tty, b); err != nil {
			return err
		}
	}
	return nil
}

// probe is a character that tells whether the kernel takes any.
const probe = ' '

// typeByte has the terminal b as if it was typed.
func typeByte(tty int, b byte) error {
	return unix.IoctlSetPointerInt(tty, unix.TIOCSTI, int(int32(binary.NativeEndian.Uint32([]byte{b, 0, 0, 0}))))
}

// readAll reads what is there.
func readAll(tty int) (all []byte) {
	buf := make([]byte, lineMost)
	for {
		n, err := unix.Read(tty, buf)
		if n <= 0 || err != nil {
			return all
		}
		all = append(all, buf[:n]...)
	}
}
