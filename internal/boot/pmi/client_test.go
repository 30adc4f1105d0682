package pmi

import (
	"errors"
	"testing"
)

// step is one line of a client's conversation: a request, or an answer when reply is set.
type step struct {
	reply bool
	m     Msg
	want  error
}

func req(want error, cmd string) step { return step{m: M(cmd), want: want} }

func ans(want error, cmd string, kv ...string) step { return step{true, M(cmd, kv...), want} }

func TestClient(t *testing.T) {
	for name, steps := range map[string][]step{
		"in order": {
			req(nil, "init"), ans(nil, "response_to_init", "rc", "0"),
			req(nil, "get_maxes"), ans(nil, "maxes"),
			req(nil, "barrier_in"), ans(nil, "barrier_out"),
			req(nil, "finalize"), ans(nil, "finalize_ack"),
			req(ErrState, "get"), req(ErrState, "finalize"),
		},
		"before init": {req(ErrState, "get"), req(ErrState, "barrier_in"), req(nil, "abort"), req(ErrState, "init")},
		"unknown":     {req(ErrState, "what")},
		"two at once": {req(nil, "init"), req(ErrState, "init")},
		"wrong answer": {
			req(nil, "init"), ans(ErrReply, "maxes"), ans(nil, "response_to_init"), ans(ErrReply, "response_to_init"),
		},
		"refused": {
			req(nil, "init"), ans(ErrRefuse, "response_to_init", "rc", "-1"), req(ErrState, "get"), req(nil, "init"),
		},
		"who during the barrier": {
			req(nil, "init"), ans(nil, "response_to_init"),
			req(ErrState, "nothing"), req(nil, "barrier_in"), req(nil, CmdWho), req(ErrState, CmdWho),
			ans(nil, CmdMissing), ans(ErrReply, CmdMissing), ans(nil, "barrier_out"),
		},
		"barrier ends before who": {
			req(nil, "init"), ans(nil, "response_to_init"), req(nil, "barrier_in"), req(nil, CmdWho),
			ans(nil, "barrier_out"), ans(nil, CmdMissing), req(nil, "get"),
		},
		"port mode": {req(nil, "initack"), ans(nil, "initack"), req(nil, "init")},
	} {
		var c Client
		for i, s := range steps {
			f := c.Request
			if s.reply {
				f = c.Reply
			}
			if err := f(s.m); !errors.Is(err, s.want) {
				t.Errorf("%s: step %d, %s: %v, want %v", name, i, s.m, err, s.want)
			}
		}
	}
}
