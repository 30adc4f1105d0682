package pmi

import (
	"errors"
	"fmt"
)

// Names of the project's own additions; see the package comment.
const (
	CmdWho       = "golci_who"     // request: who is missing from the barrier?
	CmdMissing   = "golci_missing" // its answer
	FieldRanks   = "ranks"         // in CmdMissing: the missing ranks, as FormatRanks writes them; in CmdFollows: one number
	CmdLeave     = "golci_leave"   // request without an answer: the rank ends, as all have agreed
	CmdFollows   = "golci_follows" // request without an answer: the rank of the job in FieldRanks has died
	FieldCode    = "exitcode"      // in abort and CmdLeave
	FieldText    = "golci_text"    // in abort and CmdLeave: the reason, base64url
	CmdReport    = "golci_report"  // request without an answer: the rank writes a report, and is about to go on with it
	CmdSpawn     = "golci_spawn"   // request: start the processes that FieldText describes
	CmdSpawned   = "golci_spawned" // its answer, with a description of what has become of them
	CmdReady     = "golci_ready"   // request without an answer: all ranks of this server can be reached
	KeyRoom      = "golci.room"    // key of a server whose ranks may start more: "FIRST:SIZE:LATE"
	KeyParent    = "golci.parent"  // key of a server of spawned ranks: what the spawning ranks tell them, base64url
	KeySecret    = "golci.key"     // key that a server of the project holds from the start: the job's secret, hex
	KeyMapping   = "PMI_process_mapping"
	reservedKeys = "PMI_"
)

// Errors of the client's side.
var (
	ErrRefuse = errors.New("pmi: the launcher refused")
	ErrReply  = errors.New("pmi: unexpected answer")
)

// answers has the command that answers each request; "" means that none does.
var answers = map[string]string{
	"initack": "initack", "init": "response_to_init", "get_maxes": "maxes", "get_appnum": "appnum",
	"get_universe_size": "universe_size", "get_my_kvsname": "my_kvsname", "put": "put_result",
	"barrier_in": "barrier_out", "get": "get_result", "finalize": "finalize_ack", "abort": "", CmdWho: CmdMissing,
	CmdSpawn: CmdSpawned, cmdPublish: "publish_result", cmdUnpublish: "unpublish_result", cmdLookup: "lookup_result",
}

// CheckAnswer checks that m answers a request cmd. The error wraps ErrReply if it does not: the conversation is then
// out of step for good. It wraps ErrRefuse if m carries a result code other than 0.
func CheckAnswer(cmd string, m Msg) error {
	if m.Cmd != answers[cmd] {
		return fmt.Errorf("%w: got %q while waiting for the answer to %q", ErrReply, m.String(), cmd)
	}
	if rc := m.returnCode(); rc != 0 {
		return fmt.Errorf("%w: %s: rc=%d %s", ErrRefuse, cmd, rc, m.Str("msg"))
	}
	return nil
}
