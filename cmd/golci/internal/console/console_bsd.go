//go:build unix && !linux

package console

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// limitPipe would have a pipe hold one piece; here it cannot.
func limitPipe(*os.File) {}

// takenTick is how often the pipe is looked at: nobody tells that it is empty.
const takenTick = 10 * time.Millisecond

// isTaken waits until the rank has read all that it was sent. False: the job is over.
func (i *Input) isTaken() bool {
	for {
		switch i.waitFor(int(i.theirs.Fd()), unix.POLLIN, 0) {
		case stopped:
			return false
		case elapsed: // it is empty
			return true
		case ready:
		}
		if i.waitFor(-1, 0, takenTick) == stopped {
			return false
		}
	}
}

// giveBack says that it is not known how.
func giveBack(int, []byte) error { return errors.New("golci can do it on Linux only") }
