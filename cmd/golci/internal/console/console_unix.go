//go:build unix

// Package console passes on to a rank what is typed at a terminal, and leaves to the shell what the rank does not read.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Input is the way of typed lines from a terminal to a rank. The rank cannot read the terminal itself: it is in a
// process group of its own, and the kernel stops a process that reads a terminal from the background. One line at most
// is under way: the next one is read when the rank has taken the last one.
type Input struct {
	tty        int
	theirs     *os.File // the rank's end
	ours       *os.File
	wake, stop *os.File       // stop is closed at the end, so that wake can be read
	interrupts chan os.Signal // signals at which a terminal forgets what was typed
	say        func(text string)
	done       chan struct{} // closed when nothing is read any more
}

// Start begins to read the terminal tty. say gets messages for the user, from any goroutine.
func Start(tty *os.File, say func(text string)) (*Input, error) {
	i := &Input{tty: int(tty.Fd()), interrupts: make(chan os.Signal, 1), say: say, done: make(chan struct{})}
	var err error
	if i.theirs, i.ours, err = os.Pipe(); err != nil {
		return nil, err
	}
	if i.wake, i.stop, err = os.Pipe(); err != nil {
		i.theirs.Close()
		i.ours.Close()
		return nil, err
	}
	signal.Notify(i.interrupts, syscall.SIGINT, syscall.SIGQUIT)
	limitPipe(i.ours)
	go i.passLines()
	return i, nil
}

// File is what the rank reads.
func (i *Input) File() *os.File { return i.theirs }

// stolenTime bounds the wait for a read of the terminal when the job is over. Another process may have taken the line.
const stolenTime = 2 * time.Second

// Close gives back to the terminal what the rank has not read. No rank may run any more.
func (i *Input) Close() {
	i.stop.Close()
	defer i.theirs.Close()
	select {
	case <-i.done:
	case <-time.After(stolenTime):
		return
	}
	i.wake.Close()
	signal.Stop(i.interrupts)
	i.ours.Close()
	unread, _ := io.ReadAll(i.theirs) // what cannot be read cannot be given back
	if len(unread) == 0 || len(i.interrupts) > 0 {
		return
	}
	err := errBackground
	if standingOf(i.tty) == foreground {
		err = giveBack(i.tty, unread)
	}
	if err != nil {
		i.say(fmt.Sprintf("typed, and not read by the job: %q (it cannot be left to the shell: %v)", unread, err))
	}
}

var errBackground = errors.New("golci is in the background")

// lineMost is as much as a terminal gives at once.
const lineMost = 4096

// passLines passes lines on, to the end of the input or of the job.
func (i *Input) passLines() {
	defer close(i.done)
	buf := make([]byte, lineMost)
	for i.isReadable() {
		n, err := unix.Read(i.tty, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 {
			i.ours.Close() // the rank gets the end of the input
			return
		}
		if _, err := i.ours.Write(buf[:n]); err != nil || !i.isTaken() {
			return
		}
	}
}

// Nobody tells a job that it has come to the foreground, or left it. So it looks, more often in the background, where
// somebody may wait for it.
const (
	backgroundTick = 100 * time.Millisecond
	foregroundTick = time.Second
)

// isReadable waits until there is something to read and this process may read it. False: nothing is to be read any
// more.
func (i *Input) isReadable() bool {
	told := sync.OnceFunc(func() {
		i.say("the job is in the background: rank 0 gets no input before the job is in the foreground; " +
			"with -stdin none it gets none")
	})
	for {
		switch standingOf(i.tty) {
		case apart:
			i.ours.Close()
			return false
		case background:
			told()
			if i.waitFor(-1, 0, backgroundTick) == stopped {
				return false
			}
			continue
		case foreground:
		}
		switch i.waitFor(i.tty, unix.POLLIN, foregroundTick) {
		case stopped:
			return false
		case ready:
			if standingOf(i.tty) == foreground {
				return true
			}
		case elapsed:
		}
	}
}

// standing is what a process may do with a terminal.
type standing uint8

const (
	foreground standing = iota // read it
	background                 // read it once it is in the foreground
	apart                      // it is not the controlling terminal, and others read it
)

func standingOf(tty int) standing {
	switch group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP); {
	case err != nil:
		return apart
	case group == unix.Getpgrp():
		return foreground
	}
	return background
}

type outcome uint8

const (
	ready   outcome = iota // the file is, or the other side has gone
	stopped                // Close has been called
	elapsed                // the time
)

const forever = -time.Millisecond

// waitFor waits for an event of the descriptor fd, for the time limit at most. fd of -1 is none.
func (i *Input) waitFor(fd int, events int16, limit time.Duration) outcome {
	for {
		fds := []unix.PollFd{{Fd: int32(i.wake.Fd()), Events: unix.POLLIN}, {Fd: int32(fd), Events: events}}
		_, err := unix.Poll(fds, int(limit/time.Millisecond))
		switch {
		case errors.Is(err, unix.EINTR):
		case fds[0].Revents != 0:
			return stopped
		case fds[1].Revents != 0:
			return ready
		default:
			return elapsed
		}
	}
}
