package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Plane carries small messages between the ranks of one node beside the conduit, for what must get through when nobody polls
// it: the end of the job. It is a datagram socket with an abstract name, which no file stands for, and a goroutine that sleeps
// in the Go runtime's poller until something arrives. What is sent to a rank that has opened its plane arrives, once; the
// order is not kept.
type Plane struct {
	job  *Job
	conn *net.UnixConn
	take func(from int, b []byte)
	done chan struct{} // closed when the goroutine has ended
}

// OpenPlane opens this rank's plane. take is called for every message, one after the other, from the plane's goroutine; it must
// not keep b, nor call Close. Others can reach this rank from now on; a Fence has to lie between the opening and the first
// Send. The plane must be closed. Error: that of the socket.
func (j *Job) OpenPlane(take func(from int, b []byte)) (*Plane, error) {
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: planeName(j.Key, j.Rank), Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("golci: rank %d: %w", j.Rank, err)
	}
	p := &Plane{job: j, conn: conn, take: take, done: make(chan struct{})}
	go p.read()
	return p, nil
}

func (p *Plane) read() {
	defer close(p.done)
	buf := make([]byte, planeFront+MaxPlane+1)
	for {
		n, _, err := p.conn.ReadFromUnix(buf)
		if err != nil {
			return
		}
		if from, b, ok := opened(p.job.Key, p.job.Rank, p.job.Size, buf[:n]); ok && len(b) <= MaxPlane {
			p.take(from, b)
		}
	}
}

// sendPause is the time between two tries to send to a rank whose queue is full. The kernel wakes nobody for that.
const sendPause = 2 * time.Millisecond

// Send sends b, of at most MaxPlane bytes, to rank to. It blocks the calling goroutine while that rank's queue is full,
// until ctx ends. Errors: ErrGone if the rank has closed its plane or died, ErrArgument, and those of ctx and the socket.
func (p *Plane) Send(ctx context.Context, to int, b []byte) error {
	if to < 0 || to >= p.job.Size || len(b) > MaxPlane {
		return fmt.Errorf("%w: %d bytes to rank %d of %d", ErrArgument, len(b), to, p.job.Size)
	}
	raw, err := p.conn.SyscallConn()
	if err != nil {
		return err
	}
	d := sealed(p.job.Key, p.job.Rank, to, b)
	addr := &unix.SockaddrUnix{Name: planeName(p.job.Key, to)}
	for {
		err := p.try(raw.Write, d, addr)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.ECONNREFUSED):
			return fmt.Errorf("%w: %d", ErrGone, to)
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOBUFS):
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("golci: rank %d does not take messages: %w", to, ctx.Err())
		case <-time.After(sendPause):
		}
	}
}

// try sends once, without waiting.
func (p *Plane) try(write func(func(uintptr) bool) error, d []byte, addr unix.Sockaddr) error {
	var sent error
	err := write(func(fd uintptr) bool {
		sent = unix.Sendto(int(fd), d, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, addr)
		return true
	})
	if err != nil {
		return err
	}
	return sent
}

// Gone says whether rank has closed its plane or died. It does not block.
func (p *Plane) Gone(rank int) bool {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: planeName(p.job.Key, rank), Net: "unixgram"})
	if err != nil {
		return errors.Is(err, unix.ECONNREFUSED)
	}
	c.Close()
	return false
}

// Close closes the plane and waits until take has returned.
func (p *Plane) Close() error {
	err := p.conn.Close()
	<-p.done
	return err
}
