package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// answer is what a server says to a request.
type answer func(m pmi.Msg) []string

// polite answers as a server of one rank does; value is what it holds under every key.
func polite(size, rank int, value string) answer {
	return func(m pmi.Msg) []string {
		switch m.Cmd {
		case "initack":
			return []string{"cmd=initack rc=0", fmt.Sprint("cmd=set size=", size), fmt.Sprint("cmd=set rank=", rank), "cmd=set debug=0"}
		case "init":
			return []string{"cmd=response_to_init rc=0"}
		case "get_maxes":
			return []string{"cmd=maxes vallen_max=1024"}
		case "get_my_kvsname":
			return []string{"cmd=my_kvsname kvsname=k"}
		case "put":
			return []string{"cmd=put_result rc=0"}
		case "barrier_in":
			return []string{"cmd=barrier_out"}
		case "get":
			if m.Str("key") == pmi.KeyMapping {
				return []string{"cmd=get_result rc=0 value=(vector,(0,1,1))"}
			}
			return []string{"cmd=get_result rc=0 value=" + value}
		}
		return nil
	}
}

// instead answers one command in another way.
func (a answer) instead(cmd string, lines ...string) answer {
	return func(m pmi.Msg) []string {
		if m.Cmd == cmd {
			return lines
		}
		return a(m)
	}
}

// joinHostile joins through a server that answers so; it tells how many lines the server has written.
func joinHostile(t *testing.T, p envPlace, a answer) error {
	t.Helper()
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(far)
		for lines.Scan() {
			m, err := pmi.Parse(lines.Bytes())
			if err != nil {
				t.Error(err)
			}
			for _, line := range a(m) {
				if _, err := far.Write([]byte(line + "\n")); err != nil {
					return
				}
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	j, err := joinConn(ctx, near, nil, p, options{})
	if err == nil {
		j.store.(*pmiStore).closeWire(canceled)
	}
	near.Close()
	far.Close()
	<-done
	return err
}

// TestKeyIsNotShown: whatever a launcher does wrong, no error shows the job's key.
func TestKeyIsNotShown(t *testing.T) {
	const secret = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3JldA"
	foreign, own := envPlace{size: 1, fd: -1}, envPlace{size: 1, fd: -1, ours: true}
	good := polite(1, 0, "1:"+secret)
	for name, c := range map[string]struct {
		p envPlace
		a answer
	}{
		"no number":    {foreign, polite(1, 0, secret)},
		"no base64":    {foreign, polite(1, 0, "1:!"+secret)},
		"wrong length": {foreign, good},
		"no hex":       {own, polite(1, 0, secret+"!")},
		"out of step":  {foreign, good.instead("get_my_kvsname", "cmd=get_result rc=0 value="+secret)},
		"no command":   {foreign, good.instead("barrier_in", "rc=0 value="+secret)},
		"initack":      {envPlace{port: "x", fd: -1}, good.instead("initack", "cmd=initack", "cmd=get_result value="+secret)},
	} {
		err := joinHostile(t, c.p, c.a)
		if err == nil {
			t.Errorf("%s: joined", name)
		} else if strings.Contains(err.Error(), secret[:4]) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

// TestJoinChecksServer: what a PMI-1 server says is checked before it is used.
func TestJoinChecksServer(t *testing.T) {
	port := envPlace{port: "x", fd: -1}
	key := "1:" + strings.Repeat("A", 43)
	long := strings.Repeat("A", pmi.MaxRead-100)
	endless := []string{"cmd=initack rc=0"}
	for range 10_000 {
		endless = append(endless, "cmd=set size=1")
	}
	for name, c := range map[string]struct {
		p    envPlace
		a    answer
		want error // nil: joins
	}{
		"right":          {port, polite(1, 0, key), nil},
		"size -1":        {port, polite(-1, 0, key), errEnv},
		"size 0":         {port, polite(0, 0, key), errEnv},
		"size too large": {port, polite(1<<40, 0, key), errEnv},
		"rank -1":        {port, polite(1, -1, key), errEnv},
		"rank too large": {port, polite(1, 1, key), errEnv},
		"endless sets":   {port, polite(1, 0, key).instead("initack", endless...), pmi.ErrReply},
		"huge size, fd":  {envPlace{size: 1 << 40, fd: 3}, polite(1, 0, key), errEnv},
		"empty key":      {port, polite(1, 0, "1:"), pmi.ErrReply},
		"no key":         {port, polite(1, 0, ""), pmi.ErrReply},
		"short key":      {port, polite(1, 0, "1:AAAA"), pmi.ErrReply},
		"long value":     {port, polite(1, 0, "65536:"+long), pmi.ErrReply},
		"empty pieces":   {port, polite(1, 0, "65536:"+long).onceThen("get", "cmd=get_result rc=0 value="), pmi.ErrReply},
	} {
		t.Run(name, func(t *testing.T) {
			if err := joinHostile(t, c.p, c.a); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// onceThen answers cmd with line after the second time: the first asks for the mapping of ranks, the second for the
// first piece.
func (a answer) onceThen(cmd, line string) answer {
	n := 0
	return func(m pmi.Msg) []string {
		if m.Cmd == cmd {
			if n++; n > 2 {
				return []string{line}
			}
		}
		return a(m)
	}
}
