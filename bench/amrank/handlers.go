package amrank

import (
	"fmt"

	"github.com/golci/golci/am"
)

const (
	hEcho   = iota + 1 // request, answered in kind with its argument
	hAnswer            // reply to hEcho
	hTake              // request of a flood, not answered
	hCheck             // the last of a flood: argument is how many hTake came before; answered by hAnswer
)

// checkEvery says which share of the payloads is compared.
const checkEvery = 64

func (r *end) register() error {
	for index, s := range map[uint8]am.Spec{
		hEcho:   {Name: "echo", Run: r.echo, MaxReply: r.most},
		hAnswer: {Name: "answer", Run: r.answer, MaxReply: am.NoReply},
		hTake:   {Name: "take", Run: r.take, MaxReply: am.NoReply},
		hCheck:  {Name: "check", Run: r.check},
	} {
		if err := r.ep.Register(index, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *end) echo(tok *am.Token, args []uint64, payload []byte) {
	var err error
	if len(payload) == 0 {
		err = tok.ReplyShort(hAnswer, args[0])
	} else {
		err = tok.ReplyMedium(hAnswer, payload, args[0])
	}
	r.note(err)
}

func (r *end) answer(_ *am.Token, args []uint64, payload []byte) {
	r.next("answer", &r.answers, args[0], payload)
}

func (r *end) take(_ *am.Token, args []uint64, payload []byte) {
	r.next("request", &r.seen, args[0], payload)
}

// next checks that message number got of a kind, with its payload, is the one that is due.
func (r *end) next(kind string, due *uint64, got uint64, payload []byte) {
	if got != *due {
		r.note(fmt.Errorf("%w: %s %d where %d was due", ErrPayload, kind, got, *due))
	}
	r.compare(got, payload)
	*due++
}

func (r *end) check(tok *am.Token, args []uint64, _ []byte) {
	if args[0] != r.seen {
		r.note(fmt.Errorf("%w: %d requests came of %d", ErrPayload, r.seen, args[0]))
	}
	r.seen = 0
	r.note(tok.ReplyShort(hAnswer, 0))
}

func (r *end) compare(i uint64, payload []byte) {
	if i%checkEvery != 0 {
		return
	}
	for at, b := range payload {
		if b != byte(at) {
			r.note(fmt.Errorf("%w: message %d, byte %d of %d is %#x", ErrPayload, i, at, len(payload), b))
			return
		}
	}
}

func (r *end) note(err error) {
	if err != nil && r.wrong == nil {
		r.wrong = err
	}
}

func (r *end) pingPong(payload []byte, n int) error {
	r.answers = 0
	for i := range uint64(n) {
		if err := r.request(hEcho, payload, i); err != nil {
			return err
		}
		if err := r.await(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// await polls until so many answers have come.
func (r *end) await(answers uint64) error {
	for r.answers < answers {
		if r.ep.Poll() == 0 {
			if err := r.broken(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flood sends n requests that are not answered, and one that is when all have come.
func (r *end) flood(payload []byte, n int) error {
	r.answers = 0
	for i := range uint64(n) {
		if err := r.request(hTake, payload, i); err != nil {
			return err
		}
	}
	if err := r.ep.RequestShort(1, hCheck, uint64(n)); err != nil {
		return err
	}
	return r.await(1)
}

func (r *end) request(h uint8, payload []byte, i uint64) error {
	if len(payload) == 0 {
		return r.ep.RequestShort(1, h, i)
	}
	return r.ep.RequestMedium(1, h, payload, i)
}
