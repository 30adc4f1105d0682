package pmi

import (
	"errors"
	"fmt"
)

// Names of the project's own additions; see the package comment.
const (
	CmdWho       = "golci_who"     // request: who is missing from the barrier?
	CmdMissing   = "golci_missing" // its answer
	FieldRanks   = "ranks"         // in CmdMissing: the missing ranks, as FormatRanks writes them
	CmdLeave     = "golci_leave"   // request without an answer: the rank ends, as all have agreed
	FieldCode    = "exitcode"      // in abort and CmdLeave
	FieldText    = "golci_text"    // in abort and CmdLeave: the reason, base64url
	KeySecret    = "golci.key"     // key that a server of the project holds from the start: the job's secret, hex
	KeyMapping   = "PMI_process_mapping"
	reservedKeys = "PMI_"
)

// Errors of the client's side.
var (
	ErrState  = errors.New("pmi: request not allowed now")
	ErrRefuse = errors.New("pmi: the launcher refused")
	ErrReply  = errors.New("pmi: unexpected answer")
)

// answers has the command that answers each request; "" means that none does.
var answers = map[string]string{
	"initack": "initack", "init": "response_to_init", "get_maxes": "maxes", "get_appnum": "appnum",
	"get_universe_size": "universe_size", "get_my_kvsname": "my_kvsname", "put": "put_result",
	"barrier_in": "barrier_out", "get": "get_result", "finalize": "finalize_ack", "abort": "", CmdWho: CmdMissing,
}

type clientState uint8

const (
	clientNew clientState = iota
	clientReady
	clientDone
)

// Client checks a rank's side of the conversation: which request may be sent now, and whether an answer fits. It is
// not safe for concurrent use; the zero value is a new conversation.
type Client struct {
	state   clientState
	pending string // command of the request outstanding, or ""
	who     bool   // CmdWho was sent during the barrier
}

// Request checks that m may be sent now and notes that its answer is due. It does not keep m.
func (c *Client) Request(m Msg) error {
	_, known := answers[m.Cmd]
	switch {
	case !known:
		return fmt.Errorf("%w: unknown command %q", ErrState, m.Cmd)
	case c.state == clientDone:
		return fmt.Errorf("%w: %s after finalize", ErrState, m.Cmd)
	case c.state == clientNew && m.Cmd != "init" && m.Cmd != "initack" && m.Cmd != "abort":
		return fmt.Errorf("%w: %s before init", ErrState, m.Cmd)
	case m.Cmd == "abort":
		c.state = clientDone
		return nil
	case m.Cmd == CmdWho && c.pending == "barrier_in" && !c.who:
		c.who = true
		return nil
	case c.pending != "":
		return fmt.Errorf("%w: %s while %s is outstanding", ErrState, m.Cmd, c.pending)
	}
	c.pending = m.Cmd
	return nil
}

// Reply checks that m answers the outstanding request, and ends it. The error wraps ErrReply if m does not fit; the
// conversation is then out of step for good. It wraps ErrRefuse if m carries a result code other than 0. The answer to
// a CmdWho sent during a barrier leaves the barrier outstanding.
func (c *Client) Reply(m Msg) error {
	if m.Cmd == CmdMissing && c.who {
		c.who = false
		return nil
	}
	if c.pending == "" || m.Cmd != answers[c.pending] {
		return fmt.Errorf("%w: got %q while waiting for the answer to %q", ErrReply, m.String(), c.pending)
	}
	req := c.pending
	c.pending = ""
	if rc := m.RC(); rc != 0 {
		return fmt.Errorf("%w: %s: rc=%d %s", ErrRefuse, req, rc, m.Str("msg"))
	}
	switch req {
	case "init":
		c.state = clientReady
	case "finalize":
		c.state = clientDone
	}
	return nil
}

// Done says whether the conversation has ended by finalize or abort.
func (c *Client) Done() bool { return c.state == clientDone }
