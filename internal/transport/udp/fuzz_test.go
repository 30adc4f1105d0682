package udp

import (
	"bytes"
	"crypto/ecdh"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// tape is a socket on which a test plays datagrams; what is sent goes nowhere.
type tape struct{ in [][]byte }

func (w *tape) Send(batch []mmsg.Datagram) (int, error) { return len(batch), nil }

func (w *tape) Refused([]mmsg.Datagram) int { return 0 }

func (w *tape) Recv(batch []mmsg.Datagram) (n int, err error) {
	for n < len(batch) && len(w.in) > 0 {
		d := &batch[n]
		d.N, d.Segment, d.Truncated = copy(d.Buf, w.in[0]), 0, len(w.in[0]) > len(d.Buf)
		w.in = w.in[1:]
		n++
	}
	return n, nil
}

func (w *tape) Wait(time.Time) mmsg.Reason { return mmsg.Timeout }
func (w *tape) Wake()                      {}
func (w *tape) Close() error               { return nil }
func (w *tape) Info() mmsg.Info            { return mmsg.Info{} }
func (w *tape) Dropped() uint64            { return 0 }

// victim is rank 0 of three, whom rank 1 attacks.
type victim struct {
	t      *testing.T
	c      *Conduit
	tape   *tape
	box    *seal.Box    // of rank 1
	sender *seal.Sender // the same, towards rank 0
	number uint64
	got    [2]int // bytes that came from rank 1, records and bulk
}

func newVictim(t *testing.T, mode seal.Mode) *victim {
	t.Helper()
	key := []byte("a key of thirty-two bytes, or so")
	lives := []uint64{1000, 1001, 1002}
	v := &victim{t: t, tape: &tape{}}
	cfg := Config{Rank: 0, Size: 3, Key: key, Mode: mode, Wire: v.tape, Conduit: conduit.Config{
		Loan: 16, MaxRecord: 1000, ReplySpace: 1000, BulkChunk: 1000, BulkSlots: 3,
	}}
	private := make([]*ecdh.PrivateKey, len(lives))
	publics := make([][]byte, len(lives))
	for r, life := range lives {
		var err error
		if private[r], err = ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{byte(life)}, seal.PublicSize)); err != nil {
			t.Fatal(err)
		}
		publics[r] = private[r].PublicKey().Bytes()
		path := Path{Addr: netip.MustParseAddrPort("127.0.0.1:1"), Payload: 1400}
		cfg.Peers = append(cfg.Peers, Peer{Life: life, Public: publics[r], Paths: []Path{path}})
	}
	cfg.Private = private[0]
	var err error
	if v.c, err = assemble(cfg); err == nil {
		v.box, err = seal.New(seal.Config{Key: key, Private: private[1], Publics: publics, Rank: 1, Size: 3, Incarnations: lives, Mode: mode})
	}
	if err == nil {
		v.sender, err = v.box.Sender(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Record implements conduit.Sink.
func (v *victim) Record(src int, rec []byte) {
	if src != 1 || len(rec) < conduit.WordBytes || len(rec) > v.c.g.maxRecord || int(uint32(binary.LittleEndian.Uint64(rec))) != len(rec) {
		v.t.Fatalf("a record of %d bytes from rank %d", len(rec), src)
	}
	v.got[0] += len(rec)
}

// Bulk implements conduit.Sink.
func (v *victim) Bulk(src int, _ uint64, _ int64, b []byte) {
	if src != 1 || len(b) == 0 {
		v.t.Fatalf("a piece of %d bytes from rank %d", len(b), src)
	}
	v.got[1] += len(b)
}

// Gone implements conduit.Sink.
func (*victim) Gone(int, error) {}

// play has rank 0 receive a datagram, and deliver budget of what it has.
func (v *victim) play(datagram []byte, budget int) {
	v.tape.in = append(v.tape.in, datagram)
	for len(v.tape.in) > 0 {
		v.c.Poll(budget, v)
	}
	v.bounded()
}

// sealed makes a datagram of rank 1: fixed has the numbers in it, which a rank of the job knows, be relative to the
// right ones.
func (v *victim) sealed(payload []byte, fixed bool) []byte {
	d := make([]byte, seal.HeaderSize+len(payload)+v.box.Overhead()-seal.HeaderSize)
	p := d[seal.HeaderSize:][:copy(d[seal.HeaderSize:], payload)]
	if fixed && len(p) >= headerSize+16 {
		add := func(at int, n uint32) { binary.BigEndian.PutUint32(p[at:], binary.BigEndian.Uint32(p[at:])+n) }
		add(headerSize+4, v.sequence(1, 0))
		add(headerSize+8, v.sequence(0, 1)-1)
	}
	v.number++
	if err := v.sender.Seal(d, v.number); err != nil {
		v.t.Fatal(err)
	}
	return d
}

// sequence is the first number of a direction.
func (v *victim) sequence(from, to int) uint32 {
	n, err := v.box.Sequence(from, to)
	if err != nil {
		v.t.Fatal(err)
	}
	return n
}

// bounded checks that what waits is within its room, and takes no more memory than that.
func (v *victim) bounded() {
	p := v.c.recv.pool
	room, used := p.Room()
	most := uint64(v.c.g.slots * v.c.g.chunk)
	for q := range room {
		if used[q] > room[q] {
			v.t.Fatalf("%d bytes wait in queue %d, which has room for %d", used[q], q, room[q])
		}
		most += uint64(room[q])
	}
	ln := v.c.peerState(1)
	if ln.untaken[1] > uint64(v.c.g.slots*v.c.g.chunk) {
		v.t.Fatalf("%v bytes wait", ln.untaken)
	}
	// A piece of one byte takes 32. A queue has two buffers that it does not fill.
	if most = 32*most + 8<<16; uint64(p.Memory()) > most {
		v.t.Fatalf("%d bytes are taken for what waits, %d are enough", p.Memory(), most)
	}
}

// program is what a fuzzer has rank 1 and strangers do: entries of kind, budget of the poll behind it, length (2
// bytes), data.
const (
	playStranger = iota // the data as they are
	playSealed          // the data as a payload
	playFixed           // the same, with numbers relative to the right ones
	playAgain           // the datagram before last
	plays
)

func entry(kind, budget byte, data []byte) []byte {
	return append([]byte{kind, budget, byte(len(data) >> 8), byte(len(data))}, data...)
}

// payload is what a rank sends with one segment: what it has taken, and the packet.
func payload(seq, ack uint32, body ...byte) []byte {
	b := make([]byte, headerSize+16, headerSize+16+len(body))
	p := b[headerSize:]
	p[0] = 1 // the version
	if len(body) > 0 {
		p[1] = 1 // a segment
	}
	binary.BigEndian.PutUint32(p[4:], seq)
	binary.BigEndian.PutUint32(p[8:], ack)
	binary.BigEndian.PutUint16(p[14:], uint16(len(body)))
	return append(b, body...)
}

func seeds(f *testing.F) {
	record := make([]byte, 24)
	record[0] = 24
	whole := append([]byte{2, tagRequest, 0, 24}, record...)
	long := append([]byte{2, tagRequest, 0, 24}, record...)
	long[4] = 25
	bye := append([]byte{2, tagBye, 0, 8}, 32, 0, 0, 0, 0, 0, 0, 0)
	put := append([]byte{4, tagBulk, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 255, 255, 255, 255, 255, 255, 255, 0}, "bytes"...)
	chunk := append([]byte{3, tagRequest, 0, 12, 0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0}, record[:12]...)
	rest := append([]byte{3, tagRequest, 0, 12, 0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 12}, record[12:]...)
	for mode := range byte(3) {
		f.Add(mode, entry(playStranger, 1, []byte("hello")))
		f.Add(mode, append(entry(playSealed, 1, make([]byte, 24)), entry(playAgain, 1, nil)...))
		f.Add(mode, append(entry(playFixed, 0, payload(0, 1, whole...)), entry(playFixed, 4, payload(1, 2, whole...))...))
		f.Add(mode, append(entry(playFixed, 0, payload(0, 1, append(whole, put...)...)), entry(playFixed, 4, payload(1, 0, bye...))...))
		f.Add(mode, append(entry(playFixed, 0, payload(0, 1, chunk...)), entry(playFixed, 4, payload(1, 1, rest...))...))
		f.Add(mode, entry(playFixed, 4, payload(0, 0, long...)))
		f.Add(mode, entry(playFixed, 4, payload(0, 3)))
	}
}

// FuzzDatagram plays datagrams of strangers, and of a rank that has turned bad: nothing but that rank's messages is
// delivered, whole and within its windows, and rank 0 goes on.
func FuzzDatagram(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, mode byte, program []byte) {
		v := newVictim(t, seal.Mode(mode%3))
		for i := range 3 { // so that there is something to acknowledge
			if _, st := v.c.Reserve(1, conduit.Request, 64); st == conduit.OK {
				v.c.Commit(1, 64)
			}
			v.c.BulkSend(1, uint64(i), 0, make([]byte, 100), nil)
		}
		var last, before []byte
		came := 0
		for len(program) >= 4 {
			kind, budget := program[0]%plays, int(program[1]%8)
			n := min(int(binary.BigEndian.Uint16(program[2:])), len(program)-4)
			data := program[4 : 4+n]
			program = program[4+n:]
			d := append([]byte(nil), data...)
			switch kind {
			case playSealed, playFixed:
				d = v.sealed(data, kind == playFixed)
			case playAgain:
				d = append([]byte(nil), before...)
			}
			before, last = last, append([]byte(nil), d...)
			came += len(d)
			v.play(d, budget)
		}
		for range 3 {
			v.c.Poll(1<<20, v)
		}
		// In the mode without protection a datagram may be played again, but the core takes each segment once.
		if v.got[0]+v.got[1] > came {
			t.Errorf("%v bytes delivered of %d", v.got, came)
		}
		if err := v.c.Failed(2); err != nil {
			t.Errorf("rank 2 has done nothing: %v", err)
		}
		_ = v.c.Stats()
	})
}

// TestBeyondWindow: a rank that goes on sending though nothing is taken is given up, and what it has sent till then
// is delivered.
func TestBeyondWindow(t *testing.T) {
	for name, kind := range map[string]byte{"records": 2, "bulk": 4} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t, seal.Encrypt)
			body := append([]byte{kind, tagRequest, 0, 200, 200}, make([]byte, 199)...)
			if kind == 4 {
				body = append([]byte{kind, tagBulk, 0, 200}, make([]byte, 216)...)
			}
			sent := 0
			for i := uint32(0); v.c.Failed(1) == nil; i++ {
				if sent = int(i) * 200; i == 1000 {
					t.Fatalf("%d bytes and no end", sent)
				}
				v.play(v.sealed(payload(i, 0, body...), true), 0)
			}
			for range 3 {
				v.c.Poll(1<<20, v)
			}
			if got := v.got[0] + v.got[1]; got != sent || got == 0 {
				t.Errorf("%d bytes delivered, %d fit", got, sent)
			}
			if _, st := v.c.Reserve(1, conduit.Request, 64); st != conduit.Dead {
				t.Errorf("Reserve: %v", st)
			}
			t.Log(v.c.Failed(1))
		})
	}
}
