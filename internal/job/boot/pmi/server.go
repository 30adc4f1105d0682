package pmi

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Config describes the job a Server serves.
type Config struct {
	Size    int               // number of ranks, at least 1
	KVSName string            // name of the key space, at most MaxName bytes, no blanks
	Preset  map[string]string // keys visible from the start
	// Failing, if it is not nil, is called by Handle and Gone when the job cannot go on. It gets the arguments of the
	// action Fail, but earlier: before any action is returned, so before any rank can be told. So the launcher records
	// the cause before a rank can end because of it. aborted tells an abort from a barrier that cannot end.
	Failing func(rank, code int, text string, aborted bool)
	// Follows, if it is not nil, is called by Handle when rank says that it knows of the death of another rank of the job,
	// so that its own end may be a consequence.
	Follows func(rank, of int)
	// Names are the published services, if the job has several servers; nil: its own.
	Names Names
	// Room is the greatest number of processes that the job can have; 0: Size. Spawns says that the driver of the
	// server takes the actions Spawn and Ready.
	Room   int
	Spawns bool
	// Command of each rank in the call that has started it (MPI_APPNUM); nil: 0.
	AppNum []int
}

// ActionKind says what the driver of a Server has to do.
type ActionKind uint8

const (
	Send   ActionKind = iota // write Msg to Rank
	Fail                     // the job cannot go on: end it with Code, for the reason in Text
	Hang                     // Rank does not speak PMI-1: close its connection, for the reason in Text
	Leave                    // Rank ends with Code, as all ranks have agreed; Text says why, or is empty
	Report                   // Rank writes a report, and goes on with it
	Spawn                    // Rank wants processes started, which Text describes; the driver sends the answer
	Ready                    // Rank and all others of its server can be reached
)

// Action is one thing the driver of a Server has to do, in order.
type Action struct {
	Kind ActionKind
	Rank int
	Msg  Msg
	Code int
	Text string
}

// Server is the launcher's side for one job: bytes of ranks in, actions out. It is not safe for concurrent use.
type Server struct {
	cfg    Config
	states *states
	multi  []bool // the rank is inside a multi-line command
	kvs    map[string]string
	staged map[string]string // put since the last barrier; visible after the next
	names  Names
}

// NewServer makes the server of a job. It fails for a size below 1 and a name that cannot travel.
func NewServer(cfg Config) (*Server, error) {
	if cfg.Size < 1 {
		return nil, fmt.Errorf("pmi: a job of %d ranks", cfg.Size)
	}
	if cfg.KVSName == "" || len(cfg.KVSName) > MaxName || !isPlain(cfg.KVSName) {
		return nil, fmt.Errorf("pmi: key space name %q", cfg.KVSName)
	}
	s := &Server{
		cfg: cfg, states: newStates(cfg.Size), multi: make([]bool, cfg.Size),
		kvs: map[string]string{}, staged: map[string]string{}, names: cfg.Names,
	}
	if s.names == nil {
		s.names = ports{}
	}
	for k, v := range cfg.Preset {
		s.kvs[k] = v
	}
	return s, nil
}

// Handle takes one line from rank and returns the actions to do.
func (s *Server) Handle(rank int, line []byte) []Action {
	if rank < 0 || rank >= s.cfg.Size {
		return []Action{{Kind: Hang, Rank: rank, Text: "no such rank"}}
	}
	if s.multi[rank] {
		return s.inMulti(rank, line)
	}
	m, err := Parse(line)
	if err != nil {
		return []Action{{Kind: Hang, Rank: rank, Text: err.Error()}}
	}
	if strings.HasPrefix(strings.TrimLeft(string(line), " \t"), "mcmd=") {
		s.multi[rank] = true
		return nil
	}
	switch m.Cmd {
	case "init":
		return s.onInit(rank, m)
	case "initack":
		return s.initAck(rank)
	case "abort":
		return s.onAbort(rank, m)
	case CmdLeave:
		return s.onLeave(rank, m)
	case CmdFollows:
		s.rankFollows(rank, m)
		return nil
	case CmdReport:
		return s.onReport(rank)
	}
	state := s.states.stateOf(rank)
	if state == rankNew || hasEnded(state) {
		return refuseRequest(rank, m.Cmd, "not_initialized")
	}
	if m.Cmd == CmdWho {
		return sendTo(rank, M(CmdMissing, "rc", "0", FieldRanks, FormatRanks(s.missingRanks(), SafeValue)))
	}
	if state == rankBarrier {
		return []Action{{Kind: Hang, Rank: rank, Text: m.Cmd + " while its barrier is outstanding"}}
	}
	return s.requestNames(rank, m)
}

// Gone tells that the connection of rank, or the rank itself, has ended. It is harmless when repeated.
func (s *Server) Gone(rank int) []Action {
	if hasEnded(s.states.stateOf(rank)) {
		return nil
	}
	s.states.moveRank(rank, rankGone)
	return s.checkBarrier()
}

// Finalized says whether rank has ended its conversation in order.
func (s *Server) Finalized(rank int) bool {
	st := s.states.stateOf(rank)
	return st == rankFinal || st == rankLeft
}

// Joined says whether rank has begun its conversation.
func (s *Server) Joined(rank int) bool { return s.states.stateOf(rank) != rankNew }

// missingRanks lists the ranks that are not in the barrier, ascending.
func (s *Server) missingRanks() []int {
	return s.states.missingRanks()
}

func (s *Server) requestNames(rank int, m Msg) []Action {
	switch m.Cmd {
	case "get_maxes":
		return sendTo(rank, M("maxes", "rc", "0", "kvsname_max", strconv.Itoa(MaxName),
			"keylen_max", strconv.Itoa(MaxKey), "vallen_max", strconv.Itoa(MaxValue)))
	case "get_appnum":
		app := 0
		if rank < len(s.cfg.AppNum) {
			app = s.cfg.AppNum[rank]
		}
		return sendTo(rank, M("appnum", "rc", "0", "appnum", strconv.Itoa(app)))
	case "get_universe_size":
		return sendTo(rank, M("universe_size", "rc", "0", "size", strconv.Itoa(max(s.cfg.Room, s.cfg.Size))))
	case cmdPublish, cmdUnpublish, cmdLookup:
		return s.onName(rank, m)
	case CmdSpawn:
		if !s.cfg.Spawns {
			return refuseRequest(rank, m.Cmd, "not_supported")
		}
		return []Action{{Kind: Spawn, Rank: rank, Text: reasonOf(m)}}
	case CmdReady:
		return []Action{{Kind: Ready, Rank: rank}}
	case "get_my_kvsname":
		return sendTo(rank, M("my_kvsname", "rc", "0", "kvsname", s.cfg.KVSName))
	case "put":
		return s.onPut(rank, m)
	case "get":
		return s.onGet(rank, m)
	case "barrier_in":
		s.states.moveRank(rank, rankBarrier)
		return s.checkBarrier()
	case "finalize":
		s.states.moveRank(rank, rankFinal)
		return append(sendTo(rank, M("finalize_ack", "rc", "0")), s.checkBarrier()...)
	}
	return refuseRequest(rank, m.Cmd, "not_supported")
}

func (s *Server) onInit(rank int, m Msg) []Action {
	if s.states.stateOf(rank) != rankNew {
		return refuseRequest(rank, m.Cmd, "already_initialized")
	}
	if v := m.Str("pmi_version"); v != "1" {
		return sendTo(rank, M("response_to_init", "rc", "-1", "pmi_version", "1", "pmi_subversion", "1",
			"msg", "only_PMI-1_is_spoken_here"))
	}
	s.states.moveRank(rank, rankReady)
	return sendTo(rank, M("response_to_init", "rc", "0", "pmi_version", "1", "pmi_subversion", "1"))
}

// initAck answers the opening of port mode: who the rank is, before its init.
func (s *Server) initAck(rank int) []Action {
	out := sendTo(rank, M("initack", "rc", "0"))
	for _, kv := range [][2]string{{"size", strconv.Itoa(s.cfg.Size)}, {"rank", strconv.Itoa(rank)}, {"debug", "0"}} {
		out = append(out, Action{Kind: Send, Rank: rank, Msg: M("set", kv[0], kv[1])})
	}
	return out
}

func (s *Server) onPut(rank int, m Msg) []Action {
	key, okKey := m.Get("key")
	value, okValue := m.Get("value")
	switch {
	case !okKey || !okValue || key == "" || len(key) > MaxKey || len(value) > MaxValue:
		return refuseRequest(rank, m.Cmd, "bad_key_or_value")
	case m.Str("kvsname") != s.cfg.KVSName:
		return refuseRequest(rank, m.Cmd, "no_such_kvsname")
	case strings.HasPrefix(key, reservedKeys) || key == KeySecret:
		return refuseRequest(rank, m.Cmd, "reserved_key")
	}
	s.staged[key] = value
	return sendTo(rank, M("put_result", "rc", "0"))
}

func (s *Server) onGet(rank int, m Msg) []Action {
	value, ok := s.kvs[m.Str("key")]
	if !ok || m.Str("kvsname") != s.cfg.KVSName {
		return refuseRequest(rank, m.Cmd, "key_not_found")
	}
	return sendTo(rank, M("get_result", "rc", "0", "value", value))
}

// checkBarrier lets everybody out when all have come. A barrier that some wait in and that a rank has left for good can
// never end, so it fails at once, by name.
func (s *Server) checkBarrier() []Action {
	if s.states.waiting == 0 {
		return nil
	}
	if s.states.left > 0 {
		return nil // whoever waits is about to leave, too
	}
	if ended := s.states.goneRanks(); len(ended) > 0 {
		return s.failBarrier(ended[0])
	}
	if s.states.waiting < s.cfg.Size {
		return nil
	}
	for k, v := range s.staged {
		s.kvs[k] = v
	}
	clear(s.staged)
	return s.releaseBarrier(M("barrier_out", "rc", "0"))
}

// refuseBarrier tells those who wait that the barrier cannot end, and which ranks have ended. Others that are not in it
// may be on their way.
func (s *Server) refuseBarrier(why string) []Action {
	gone := FormatRanks(s.states.goneRanks(), SafeValue)
	return s.releaseBarrier(M("barrier_out", "rc", "-1", FieldRanks, gone, "msg", why))
}

func (s *Server) failBarrier(rank int) []Action {
	how := "has gone"
	if s.states.stateOf(rank) == rankFinal {
		how = "has finalized"
	}
	out := s.failRank(rank, 1, fmt.Sprintf("rank %d %s, while other ranks wait for it", rank, how), false)
	return append(out, s.refuseBarrier(fmt.Sprintf("rank_%d_%s", rank, strings.ReplaceAll(how, " ", "_")))...)
}

// failRank tells the owner before it tells anybody else.
func (s *Server) failRank(rank, code int, text string, aborted bool) []Action {
	if s.cfg.Failing != nil {
		s.cfg.Failing(rank, code, text, aborted)
	}
	return []Action{{Kind: Fail, Rank: rank, Code: code, Text: text}}
}

func (s *Server) releaseBarrier(m Msg) []Action {
	var out []Action
	for _, r := range s.states.letOut() {
		out = append(out, Action{Kind: Send, Rank: r, Msg: m})
	}
	return out
}

func (s *Server) onAbort(rank int, m Msg) []Action {
	code := exitCode(m)
	s.states.moveRank(rank, rankFinal)
	text := fmt.Sprintf("rank %d aborted the job with code %d", rank, code)
	if why := reasonOf(m); why != "" {
		text += ": " + why
	}
	out := s.failRank(rank, code, text, true)
	if s.states.waiting > 0 {
		out = append(out, s.refuseBarrier(fmt.Sprintf("rank_%d_aborted", rank))...)
	}
	return out
}

// onLeave takes the word of a rank that ends by agreement. It may come at any time, beside an outstanding barrier, too.
func (s *Server) onLeave(rank int, m Msg) []Action {
	if hasEnded(s.states.stateOf(rank)) {
		return nil
	}
	s.states.moveRank(rank, rankLeft)
	return []Action{{Kind: Leave, Rank: rank, Code: exitCode(m), Text: reasonOf(m)}}
}

// rankFollows takes the word of a rank on the death of another one, at any time until its own end.
func (s *Server) rankFollows(rank int, m Msg) {
	of, err := m.Int(FieldRanks)
	if err == nil && of >= 0 && s.cfg.Follows != nil && s.states.stateOf(rank) != rankNew &&
		!hasEnded(s.states.stateOf(rank)) {
		s.cfg.Follows(rank, of)
	}
}

// onReport takes the word of a rank that writes a report. It may come at any time, as CmdLeave may.
func (s *Server) onReport(rank int) []Action {
	if hasEnded(s.states.stateOf(rank)) {
		return nil
	}
	return []Action{{Kind: Report, Rank: rank}}
}

func exitCode(m Msg) int {
	code, err := m.Int(FieldCode)
	if err != nil {
		return 1
	}
	return code
}

func reasonOf(m Msg) string {
	b, err := base64.RawURLEncoding.DecodeString(m.Str(FieldText))
	if err != nil {
		return ""
	}
	return string(b)
}

// inMulti swallows a multi-line command (spawn, the only one) and refuses it at its end.
func (s *Server) inMulti(rank int, line []byte) []Action {
	if strings.TrimSpace(string(line)) != "endcmd" {
		return nil
	}
	s.multi[rank] = false
	return sendTo(rank, M("spawn_result", "rc", "-1", "msg", "not_supported"))
}

func sendTo(rank int, m Msg) []Action { return []Action{{Kind: Send, Rank: rank, Msg: m}} }

// refuseRequest answers a request that cannot be served, under the name its client waits for.
func refuseRequest(rank int, cmd, why string) []Action {
	name, ok := answers[cmd]
	if !ok || name == "" {
		name = cmd + "_result"
	}
	return sendTo(rank, M(name, "rc", "-1", "msg", why))
}
