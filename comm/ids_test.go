package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestLateAnswers: an answer to a send that has ended does not touch the send that has its slot now.
func TestLateAnswers(t *testing.T) {
	for name, late := range map[string]func(s *Server, id uint64){
		"answer":     func(s *Server, id uint64) { s.e.PostUrgent(0, handlerCTS, id, 0, 0) },
		"retraction": func(s *Server, id uint64) { s.e.PostUrgent(0, handlerRetracted, id) },
		"go":         func(s *Server, id uint64) { s.e.PostUrgent(0, handlerGo, id, 1, 0, 1, 1, 1) },
		"copied":     func(s *Server, id uint64) { s.e.PostUrgent(0, handlerCopied, id, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, 2, conduit.Config{}, Config{})
			poll := func() {
				for range 100 {
					j[0].Poll()
					j[1].Poll()
				}
			}
			old, err := j[0].Isend(1, 1, 1, nil, &Options{Form: Nonblocking, Mode: Synchronous})
			if err != nil {
				t.Fatal(err)
			}
			id := old.o.id
			poll()
			j[0].Cancel(old)
			poll()
			if _, err := j[0].Wait(old); !errors.Is(err, ErrCancelled) {
				t.Fatal(err)
			}
			r, err := j[0].Isend(1, 1, 2, nil, &Options{Form: Nonblocking, Mode: Synchronous})
			if err != nil {
				t.Fatal(err)
			}
			if uint32(r.o.id) != uint32(id) {
				t.Fatal("the slot is not used again")
			}
			poll()
			late(j[1], id)
			poll()
			if r.Ready() {
				t.Error("the late message has ended another send")
			}
			if _, err := j[1].Irecv(1, 0, 2, nil, nil); err != nil {
				t.Fatal(err)
			}
			poll()
			if !r.Ready() {
				t.Error("the send has not ended with its own answer")
			}
		})
	}
}

// TestAnswerTooLong: an answer that wants more bytes than the send has is a fault, and the send is not touched.
func TestAnswerTooLong(t *testing.T) {
	var fatal []error
	j := newJob(t, 2, conduit.Config{}, Config{}, fatalTo(func(err error) { fatal = append(fatal, err) }))
	const size = 20 << 10
	whole := make([]byte, 2*size) // what lies behind the message must not leave
	r, err := j[0].Isend(1, 1, 1, whole[:size], nil)
	if err != nil {
		t.Fatal(err)
	}
	j[1].e.PostUrgent(0, handlerCTS, r.o.id, 1, size+1)
	for range 100 {
		j[0].Poll()
		j[1].Poll()
	}
	if len(fatal) != 1 || !errors.Is(fatal[0], ErrProtocol) {
		t.Errorf("%v", fatal)
	}
	if r.Ready() {
		t.Error("the send has ended")
	}
}
