package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/transport/badnet"
)

// relayTo makes the test's binary a relay to the address it holds.
const relayTo = "RELAY_TEST_TO"

func TestMain(m *testing.M) {
	to := os.Getenv(relayTo)
	if to == "" {
		goleak.VerifyTestMain(m)
		return
	}
	c := Command{Listen: "127.0.0.1:0", To: to, Loss: 0.5, Burst: 1, Seed: 4, Oneway: true}
	if err := c.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// patience is how long a test waits for what must come. Long, since the machine may stop the process for a while.
const patience = 5 * time.Minute

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func addr(c *net.UDPConn) netip.AddrPort { return c.LocalAddr().(*net.UDPAddr).AddrPort() }

// server answers every packet with itself until the test ends.
func server(t *testing.T) netip.AddrPort {
	c := socket(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for buf := make([]byte, 1<<16); ; {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				_, _ = c.WriteToUDPAddrPort(buf[:n], from)
			}
		}
	})
	t.Cleanup(func() { _ = c.Close(); wg.Wait() })
	return addr(c)
}

// serve runs a relay; stop ends it and returns what it did.
func serve(t *testing.T, cfg Config) (at netip.AddrPort, r *Relay, stop func() Totals) {
	t.Helper()
	r, err := listenRelay(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.serveClients(ctx) }()
	var once sync.Once
	stop = func() Totals {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return r.sumTotals()
	}
	t.Cleanup(func() { stop() })
	return r.Addr(), r, stop
}

func send(t *testing.T, c *net.UDPConn, to netip.AddrPort, text string) {
	t.Helper()
	if _, err := c.WriteToUDPAddrPort([]byte(text), to); err != nil {
		t.Fatal(err)
	}
}

// read waits for one packet.
func read(t *testing.T, c *net.UDPConn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<16)
	n, err := c.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestPassesBothWays(t *testing.T) {
	at, _, stop := serve(t, Config{Listen: loopback, To: server(t), Faults: badnet.Faults{Delay: 2 * time.Millisecond}})
	a, b := socket(t), socket(t)
	for k := range 20 {
		text := fmt.Sprint("packet ", k)
		send(t, a, at, "a"+text)
		send(t, b, at, "b"+text)
		if x, y := read(t, a), read(t, b); x != "a"+text || y != "b"+text {
			t.Fatalf("a got %q, b got %q", x, y)
		}
	}
	if s := stop(); s.Clients != 2 || s.To.Packets != 40 || s.From.Delivered != 40 || s.To.Bytes != s.From.DeliveredBytes {
		t.Errorf("%+v", s)
	}
}

func TestOneWayAndCounts(t *testing.T) {
	at, _, stop := serve(t, Config{Listen: loopback, To: server(t), OneWay: true, Faults: badnet.Faults{Dup: 1}})
	c := socket(t)
	for range 10 {
		send(t, c, at, "x")
		read(t, c)
		read(t, c)
	}
	if s := stop(); s.To.Duplicated != 10 || s.From.Packets != 20 || s.From.Duplicated != 0 || s.From.Delivered != 20 {
		t.Errorf("%+v", s)
	}
}

func TestClientsAreBounded(t *testing.T) {
	at, r, _ := serve(t, Config{Listen: loopback, To: server(t), Clients: 1})
	first, second := socket(t), socket(t)
	send(t, first, at, "x")
	read(t, first)
	send(t, second, at, "y")
	for end := time.Now().Add(patience); r.sumTotals().Refused == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the second client was not refused")
		}
	}
	send(t, first, at, "z")
	if got := read(t, first); got != "z" || r.sumTotals().Clients != 1 {
		t.Errorf("%q, %+v", got, r.sumTotals())
	}
}

// TestServerMayComeLater: until it does, the relay hears that nobody is there, and goes on.
func TestServerMayComeLater(t *testing.T) {
	c := socket(t)
	to := addr(c)
	_ = c.Close()
	at, _, _ := serve(t, Config{Listen: loopback, To: to})
	client := socket(t)
	send(t, client, at, "nobody")
	late, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Skipf("the port was taken in the meantime: %v", err)
	}
	defer late.Close()
	send(t, client, at, "somebody")
	for got := ""; got != "somebody"; {
		got = read(t, late)
	}
}

func TestBadConfigurations(t *testing.T) {
	for _, cfg := range []Config{{Listen: loopback, To: loopback}, {Listen: loopback}, {Listen: loopback, To: loopback, Faults: badnet.Faults{Loss: 2}}} {
		if _, err := listenRelay(cfg); !errors.Is(err, badnet.ErrFaults) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, c := range []Command{{Listen: "nonsense", To: "127.0.0.1:1"}, {Listen: "127.0.0.1:0", To: ":::"}, {Listen: "127.0.0.1:0", To: "127.0.0.1:0"}} {
		if err := c.runRelay(context.Background(), io.Discard); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestCommandTellsWhatItDid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	c := Command{Listen: "127.0.0.1:0", To: "127.0.0.1:9", Seed: 3}
	if err := c.runRelay(ctx, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"to 127.0.0.1:9, seed 3", "clients", "direction", "from"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestBetweenProcesses starts the relay as a process of its own, and compares what comes through with what the seed
// says.
func TestBetweenProcesses(t *testing.T) {
	dst, src := socket(t), socket(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), relayTo+"="+addr(dst).String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	at, err := netip.ParseAddrPort(strings.Fields(lines.Text() + " . .")[1])
	if err != nil {
		t.Errorf("the first line was %q", lines.Text())
		_ = cmd.Process.Kill()
	}
	model, err := badnet.New(badnet.Faults{Loss: 0.5, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	packet := func(k uint32) []byte { return binary.BigEndian.AppendUint32(make([]byte, 0, 64), k)[:64] }
	sent := uint32(0)
	for passed := false; sent < 50 || !passed; sent++ { // one that passes comes last: then the relay has seen them all
		k := sent
		model.Push(0, packet(k))
		send(t, src, at, string(packet(k)))
		var p badnet.Packet
		if p, passed = model.Take(0); passed {
			if got := read(t, dst); got != string(p.Data) {
				t.Fatalf("packet %d: got %x, want %x", k, got, p.Data)
			}
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill()
		t.Skipf("processes cannot be interrupted here: %v", err)
	}
	last := ""
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "to ") {
			last = lines.Text()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(last); len(f) < 6 || f[1] != fmt.Sprint(sent) || f[5] != fmt.Sprint(model.Counts().Lost) {
		t.Errorf("it counted %q; want %d packets, %d lost", last, sent, model.Counts().Lost)
	}
}
