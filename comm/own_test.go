package comm

import (
	"bytes"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestOwnSynchronous: a receive of the own rank is complete as soon as it has met a synchronous send, whichever was first.
func TestOwnSynchronous(t *testing.T) {
	s := newJob(t, 1, conduit.Config{}, Config{})[0]
	for _, n := range []int{0, 4, 1 << 20} {
		data, buf := bytes.Repeat([]byte{7}, n), make([]byte, n+1)
		recv, err := s.Irecv(1, 0, 5, buf, nil)
		if err != nil {
			t.Fatal(err)
		}
		send, err := s.Isend(1, 0, 5, data, &Options{Form: Nonblocking, Mode: Synchronous})
		if err != nil {
			t.Fatal(err)
		}
		for !send.Ready() {
			s.Poll()
		}
		if !recv.Ready() {
			t.Errorf("%d bytes: the send is complete and the receive is not", n)
		}
		wantOwn(t, s, send, recv, buf, n)

		send, err = s.Isend(1, 0, 5, data, &Options{Form: Nonblocking, Mode: Synchronous})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := s.Mprobe(1, 0, 5)
		if err != nil {
			t.Fatal(err)
		}
		clear(buf)
		if recv, err = s.Imrecv(m, buf, nil); err != nil {
			t.Fatal(err)
		}
		if !recv.Ready() {
			t.Errorf("%d bytes: the message has been received, and the receive is not complete", n)
		}
		wantOwn(t, s, send, recv, buf, n)
	}
}

// wantOwn waits for both, and checks the bytes.
func wantOwn(t *testing.T, s *Server, send, recv Req, buf []byte, n int) {
	t.Helper()
	if _, err := s.Wait(send); err != nil {
		t.Error(err)
	}
	st, err := s.Wait(recv)
	if err != nil || st.Bytes != int64(n) || bytes.Count(buf[:n], []byte{7}) != n || buf[n] != 0 {
		t.Errorf("%d bytes: got %+v (%v)", n, st, err)
	}
}
