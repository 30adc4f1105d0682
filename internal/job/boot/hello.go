package boot

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
)

const (
	cmdHello     = "golci_hello" // first line on a rendezvous: which rank speaks
	helloTimeout = 5 * time.Second
	maxHello     = 256 // bytes in that line
	maxAnswer    = 512 // bytes in the answer
	maxNode      = 64  // bytes in the name of a node
)

// welcome is the answer to the first line. A rank that gets no answer calls again.
const welcome = "cmd=" + cmdHello + " rc=0\n"

// errRefused: the rank that serves has a reason why this one cannot take part.
var errRefused = fmt.Errorf("%w: refused", errEnv)

// hello is what a rank says first.
type hello struct {
	rank, size int
	node       string // for people
	host       string // the same for ranks that share a machine, and different else
}

// nodeName is the name of this rank's node.
func (p *envPlace) nodeName() string {
	name := p.node
	if name == "" {
		name, _ = os.Hostname()
	}
	return plainName(name)
}

// hostMark is hostID in a form that fits a line.
func hostMark() string {
	sum := sha256.Sum256(hostID())
	return hex.EncodeToString(sum[:8])
}

// plainName makes text fit for a line of the protocol and for people's eyes.
func plainName(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-', r == ':':
			return r
		}
		return '?'
	}, text)
	if text == "" {
		text = "?"
	}
	return text[:min(len(text), maxNode)]
}

// readHello reads the first line of a connection. The rank says no more before it is answered.
func readHello(c net.Conn) (hello, error) {
	line, err := bufio.NewReaderSize(c, maxHello).ReadSlice('\n')
	if err != nil {
		return hello{}, err
	}
	return parseHello(line)
}

func parseHello(line []byte) (e hello, err error) {
	m, err := pmi.Parse(line)
	if err != nil {
		return e, err
	}
	var wrong [2]error
	e.rank, wrong[0] = m.Int("rank")
	e.size, wrong[1] = m.Int("size")
	e.node, e.host = plainName(m.Str("node")), m.Str("host")
	if err = errors.Join(wrong[:]...); err == nil && m.Cmd != cmdHello {
		err = fmt.Errorf("%w: %s", pmi.ErrSyntax, m)
	}
	return e, err
}

// refusedLine is the line that tells a rank why it cannot take part.
func refusedLine(why string) []byte {
	line, _ := withText(pmi.M(cmdHello, "rc", "-1"), why[:min(len(why), maxAnswer/2)]).Append(nil) // base64 fits any line
	return line
}

// greetHost tells the host at the other end of c which rank speaks. It owns c until it returns it. An error that wraps
// errRefused says why the host does not take this rank. After others, such as that of a host that has hung up because
// it has no room or has ended, the rank may call again.
func greetHost(ctx context.Context, c net.Conn, p *envPlace, limit time.Duration) (net.Conn, error) {
	_ = c.SetDeadline(time.Now().Add(limit))
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	m := pmi.M(cmdHello, "rank", strconv.Itoa(p.rank), "size", strconv.Itoa(p.size), "node", p.nodeName(), "host",
		hostMark())
	line, err := m.Append(nil)
	if err == nil {
		_, err = c.Write(line)
	}
	if err == nil {
		err = readAnswer(c)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	_ = c.SetDeadline(time.Time{})
	return c, nil
}

// readAnswer reads the host's answer. The host says no more before it is asked.
func readAnswer(c net.Conn) error {
	line, err := bufio.NewReaderSize(c, maxAnswer).ReadSlice('\n')
	if err != nil {
		return err
	}
	if string(line) == welcome {
		return nil
	}
	m, err := pmi.Parse(line)
	if err != nil || m.Cmd != cmdHello {
		return fmt.Errorf("%w: %d bytes in answer to a greeting", pmi.ErrReply, len(line))
	}
	why, err := base64.RawURLEncoding.DecodeString(m.Str(pmi.FieldText))
	if err != nil {
		return fmt.Errorf("%w: a refusal that cannot be read", pmi.ErrReply)
	}
	return fmt.Errorf("%w by the rank that serves the job: %s", errRefused, why)
}
