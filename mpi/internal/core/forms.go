package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/observe/pending"
)

// Forms of calls that start a send or a receive, beyond those of package comm.
const (
	formPersistent = comm.OtherForms + iota
	formBuffered
	formSendrecv
	formIsendrecv
	formMatched
)

// formNames are the functions by form.
var formNames = [...]struct{ recv, send, ssend string }{
	comm.Blocking:    {"Recv", "Send", "Ssend"},
	comm.Nonblocking: {"Irecv", "Isend", "Issend"},
	formPersistent:   {"RecvInit", "SendInit", "SsendInit"},
	formBuffered:     {send: "Bsend"},
	formSendrecv:     {recv: "Sendrecv", send: "Sendrecv"},
	formIsendrecv:    {recv: "Isendrecv", send: "Isendrecv"},
	formMatched:      {recv: "Mrecv"},
}

// formName is the function that has started the send or receive x.
func formName(x *pending.Op) string {
	names := &formNames[x.Form]
	switch {
	case x.Kind != pending.Send:
		return names.recv
	case x.Sync:
		return names.ssend
	}
	return names.send
}
