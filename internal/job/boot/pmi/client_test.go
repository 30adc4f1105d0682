package pmi

import (
	"errors"
	"testing"
)

func TestCheckAnswer(t *testing.T) {
	for _, c := range []struct {
		request string
		answer  Msg
		want    error
	}{
		{"init", M("response_to_init", "rc", "0"), nil},
		{"get_maxes", M("maxes"), nil},
		{"barrier_in", M("barrier_out"), nil},
		{"finalize", M("finalize_ack"), nil},
		{"initack", M("initack"), nil},
		{CmdWho, M(CmdMissing), nil},
		{"init", M("maxes"), ErrReply},
		{"get", M(CmdMissing), ErrReply},
		{"what", M("what"), ErrReply},
		{"init", M("response_to_init", "rc", "-1"), ErrRefuse},
	} {
		if err := CheckAnswer(c.request, c.answer); !errors.Is(err, c.want) {
			t.Errorf("%s answered by %s: %v, want %v", c.request, c.answer, err, c.want)
		}
	}
}
