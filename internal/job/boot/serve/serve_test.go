package serve

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/job/boot/pmi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talker is a rank that speaks raw lines.
type talker struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func attach(t *testing.T, s *Server, rank int) talker {
	t.Helper()
	near, far := net.Pipe()
	if !s.Attach(rank, far) {
		t.Fatalf("rank %d was not taken", rank)
	}
	t.Cleanup(func() { near.Close() })
	return talker{t, near, bufio.NewReader(near)}
}

func (k talker) say(line string) {
	k.t.Helper()
	if _, err := k.conn.Write([]byte(line + "\n")); err != nil {
		k.t.Errorf("%s: %v", line, err)
	}
}

func (k talker) hear(want string) {
	k.t.Helper()
	got, err := k.r.ReadString('\n')
	if err != nil || !strings.HasPrefix(got, want) {
		k.t.Errorf("heard %q, %v; want %q", got, err, want)
	}
}

func (k talker) hearEnd() {
	k.t.Helper()
	if got, err := k.r.ReadString('\n'); err == nil {
		k.t.Errorf("heard %q; want the end", got)
	}
}

func (k talker) init() {
	k.t.Helper()
	k.say("cmd=init pmi_version=1 pmi_subversion=1")
	k.hear("cmd=response_to_init rc=0")
}

// notes collects what the hooks are told.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) want(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if strings.Join(n.lines, "|") != strings.Join(want, "|") {
		t.Errorf("told %q, want %q", n.lines, want)
	}
}

func newServer(t *testing.T, size int, h Hooks) *Server {
	t.Helper()
	s, err := New(pmi.Config{Size: size, KVSName: "kvs"}, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestServeBarrierAndDeath(t *testing.T) {
	var n notes
	s := newServer(t, 2, Hooks{Fail: func(rank, code int, text string) { n.add("%d %d %s", rank, code, text) }})
	a, b := attach(t, s, 0), attach(t, s, 1)
	a.init()
	b.init()
	if !s.Joined(1) || s.Finalized(1) {
		t.Error("rank 1 has joined and not finalized")
	}
	a.say("cmd=barrier_in")
	b.say("cmd=barrier_in")
	a.hear("cmd=barrier_out rc=0")
	b.hear("cmd=barrier_out rc=0")
	a.say("cmd=barrier_in")
	b.conn.Close()
	a.hear("cmd=barrier_out rc=-1 ranks=1 ")
	s.Close()
	n.want(t, "1 1 rank 1 has gone, while other ranks wait for it")
	a.hearEnd()
}

func TestServeEOFHook(t *testing.T) {
	var n notes
	s := newServer(t, 1, Hooks{EOF: func(rank int) { n.add("eof %d", rank) }})
	a := attach(t, s, 0)
	a.init()
	a.say("cmd=finalize")
	a.hear("cmd=finalize_ack rc=0")
	a.conn.Close()
	s.Close()
	n.want(t, "eof 0")
	if !s.Finalized(0) {
		t.Error("rank 0 has finalized")
	}
	s.Gone(0)
	n.want(t, "eof 0")
}

func TestServeRefuses(t *testing.T) {
	s := newServer(t, 1, Hooks{})
	a := attach(t, s, 0)
	_, far := net.Pipe()
	if s.Attach(0, far) {
		t.Error("a second connection for one rank was taken")
	}
	a.say("what is this")
	a.hearEnd()
	s.Close()
	_, far = net.Pipe()
	if s.Attach(0, far) {
		t.Error("a connection was taken after Close")
	}
	if _, err := New(pmi.Config{}, Hooks{}); err == nil {
		t.Error("a job without ranks was taken")
	}
}

// TestServeHang: a rank that breaks the protocol in a barrier counts as gone, so that the others do not wait for ever.
func TestServeHang(t *testing.T) {
	s := newServer(t, 2, Hooks{})
	a, b := attach(t, s, 0), attach(t, s, 1)
	a.init()
	b.init()
	a.say("cmd=barrier_in")
	b.say("rubbish")
	b.hearEnd()
	a.hear("cmd=barrier_out rc=-1 ranks=1 ")
}
