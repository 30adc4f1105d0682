package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// near is the part of a plane that joins the ranks of one node: a datagram socket with an abstract name, which no file stands
// for, and a goroutine that sleeps in the Go runtime's poller until something arrives.
type near struct {
	job  *Job
	conn *net.UnixConn
	take func(from int, b []byte)
	done chan struct{} // closed when the goroutine has ended
}

func openNear(j *Job, take func(from int, b []byte)) (*near, error) {
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: planeName(j.Key, j.Rank), Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("golci: rank %d: %w", j.Rank, err)
	}
	p := &near{job: j, conn: conn, take: take, done: make(chan struct{})}
	go p.read()
	return p, nil
}

func (p *near) read() {
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

// send waits while the queue of rank to is full, until ctx ends.
func (p *near) send(ctx context.Context, to int, b []byte) error {
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
func (p *near) try(write func(func(uintptr) bool) error, d []byte, addr unix.Sockaddr) error {
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

func (p *near) gone(rank int) bool {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: planeName(p.job.Key, rank), Net: "unixgram"})
	if err != nil {
		return errors.Is(err, unix.ECONNREFUSED)
	}
	c.Close()
	return false
}

// close waits until take has returned.
func (p *near) close() error {
	err := p.conn.Close()
	<-p.done
	return err
}
