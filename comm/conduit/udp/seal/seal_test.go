package seal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var modes = []Mode{Encrypt, Authenticate, Trust}

func jobKey() []byte {
	k := make([]byte, 32)
	for i := range k {
		k[i] = byte(i)
	}
	return k
}

func config(rank int, mode Mode) Config {
	return Config{Key: jobKey(), Rank: rank, Size: 4, Incarnations: []uint64{0x9999, 0x1111, 0x2222, 0x3333}, Mode: mode}
}

func mustBox(t testing.TB, c Config) *Box {
	t.Helper()
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustSender(t testing.TB, b *Box, dst int) *Sender {
	t.Helper()
	s, err := b.Sender(dst)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sealed makes one datagram.
func sealed(t testing.TB, s *Sender, number uint64, payload []byte) []byte {
	t.Helper()
	d := make([]byte, s.box.Overhead()+len(payload))
	copy(d[HeaderSize:], payload)
	if err := s.Seal(d, number); err != nil {
		t.Fatal(err)
	}
	return d
}

func ends(t testing.TB, mode Mode) (*Sender, *Box) {
	return mustSender(t, mustBox(t, config(1, mode)), 2), mustBox(t, config(2, mode))
}

// expect opens a copy of d and compares the verdict.
func expect(t *testing.T, b *Box, d []byte, want Verdict, what string) {
	t.Helper()
	if _, _, _, v := b.Open(bytes.Clone(d)); v != want {
		t.Errorf("%s: %v, want %v", what, v, want)
	}
}

const vectorPayload = "sixteen thousand"

// vectors were made by another implementation (HMAC-SHA-256 and AES-GCM of Python's cryptography package): job key 00..1f, from
// rank 1 of life 0x1111 to rank 2 of life 0x2222.
var vectors = []struct {
	mode   Mode
	number uint64
	hex    string
}{
	{Encrypt, 1, "24bebff93900f97000000001000000020000000000000001e9f0f73afd73e1ada0f65ddf5197a5c9cae1f63bc2a90117389f6336167a2d81"},
	{Encrypt, 3<<22 + 5, "24bebff93900f97000000001000000020000000000c00005a98c4a99e0afc30aaa5ac863eb2d88d1b2869e03fd9a206f08a9640bf6896c9b"},
	{Authenticate, 1, "058ebef19835c4a7000000010000000200000000000000017369787465656e2074686f7573616e64a4ef184c60d2bcd3acf906912e863bec"},
	{Authenticate, 3<<22 + 5, "058ebef19835c4a700000001000000020000000000c000057369787465656e2074686f7573616e6406d334ff286b1f7367fb9e55f72f998d"},
	{Trust, 1, "5e47537cebc2ac3b000000010000000200000000000000017369787465656e2074686f7573616e64"},
	{Trust, 3<<22 + 5, "5e47537cebc2ac3b00000001000000020000000000c000057369787465656e2074686f7573616e64"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(fmt.Sprintf("%v/number=%d", v.mode, v.number), func(t *testing.T) {
			s, b := ends(t, v.mode)
			d := sealed(t, s, v.number, []byte(vectorPayload))
			if got := hex.EncodeToString(d); got != v.hex {
				t.Fatalf("sealed\n%s, want\n%s", got, v.hex)
			}
			src, number, payload, verdict := b.Open(d)
			if src != 1 || number != v.number || string(payload) != vectorPayload || verdict != Opened {
				t.Fatalf("opened: rank %d, number %d, %q, %v", src, number, payload, verdict)
			}
			if cap(payload) != len(payload) {
				t.Errorf("the payload can be appended to, into the tag")
			}
		})
	}
}

func TestEveryLength(t *testing.T) {
	for _, mode := range modes {
		s, b := ends(t, mode)
		for n := range 300 {
			want := bytes.Repeat([]byte{byte(n)}, n)
			if _, _, got, v := b.Open(sealed(t, s, uint64(n), want)); v != Opened || !bytes.Equal(got, want) {
				t.Fatalf("%v: %d bytes: %v", mode, n, v)
			}
		}
	}
}

// TestTamper flips each bit of a datagram, one at a time, cuts it at each length and makes it longer.
func TestTamper(t *testing.T) {
	for _, mode := range []Mode{Encrypt, Authenticate} {
		s, b := ends(t, mode)
		d := sealed(t, s, 7, []byte(vectorPayload))
		for i := range len(d) * 8 {
			bad := bytes.Clone(d)
			bad[i/8] ^= 1 << (i % 8)
			if _, _, p, v := b.Open(bad); v == Opened || p != nil {
				t.Fatalf("%v: bit %d flipped: %v", mode, i, v)
			}
		}
		for n := range d {
			if _, _, _, v := b.Open(bytes.Clone(d[:n])); v == Opened {
				t.Fatalf("%v: opened when cut to %d bytes", mode, n)
			}
		}
		expect(t, b, append(bytes.Clone(d), 0), Forged, "one byte more")
		if b.peers[1] != nil {
			t.Errorf("%v: forgeries took memory", mode)
		}
		expect(t, b, d, Opened, "the true one after all")
	}
}

// TestTrustChecksTheHeader: there a datagram is refused when cookie or rank differ, and nothing else is promised.
func TestTrustChecksTheHeader(t *testing.T) {
	s, b := ends(t, Trust)
	d := sealed(t, s, 7, []byte(vectorPayload))
	for i := range 16 * 8 {
		bad := bytes.Clone(d)
		bad[i/8] ^= 1 << (i % 8)
		src, _, _, v := b.Open(bad)
		if v == Opened && src == 1 {
			t.Fatalf("bit %d flipped: opened", i)
		}
	}
	expect(t, b, d, Opened, "first")
	expect(t, b, d, Opened, "again")
	expect(t, b, d[:HeaderSize-1], Short, "cut")
}

// TestOthersAreRefused opens datagrams of a sender that differs in one thing.
func TestOthersAreRefused(t *testing.T) {
	for _, mode := range []Mode{Encrypt, Authenticate} {
		for _, c := range []struct {
			name string
			edit func(*Config)
			dst  int
			want Verdict
		}{
			{"the same", func(*Config) {}, 2, Opened},
			{"job", func(c *Config) { c.Key[31] ^= 1 }, 2, Foreign},
			{"mode", func(c *Config) { c.Mode = Trust }, 2, Foreign},
			{"pair", func(*Config) {}, 3, Stray},
			{"rank that is none", func(c *Config) { c.Rank, c.Size, c.Incarnations = 9, 10, nil }, 2, Stray},
			{"life of the sender", func(c *Config) { c.Incarnations[1]++ }, 2, Forged},
			{"life of the receiver", func(c *Config) { c.Incarnations[2]++ }, 2, Forged},
		} {
			cfg := config(1, mode)
			c.edit(&cfg)
			s := mustSender(t, mustBox(t, cfg), c.dst)
			expect(t, mustBox(t, config(2, mode)), sealed(t, s, 1, []byte(vectorPayload)), c.want, mode.String()+": "+c.name)
		}
	}
}

// TestHeaderCannotBeRedirected changes the ranks in clear to those of a pair that exists.
func TestHeaderCannotBeRedirected(t *testing.T) {
	for _, mode := range []Mode{Encrypt, Authenticate} {
		s, b := ends(t, mode)
		d := sealed(t, s, 1, []byte(vectorPayload))
		d[11] = 3 // as if rank 3 had sent it
		expect(t, b, d, Forged, "another source")
		d[11], d[15] = 1, 3
		expect(t, mustBox(t, config(3, mode)), d, Forged, "another destination")
		d[11], d[15] = 2, 1 // the sender's own datagram, sent back
		expect(t, mustBox(t, config(1, mode)), d, Forged, "the other direction")
	}
}

func TestNumbersAreUsedOnce(t *testing.T) {
	for _, mode := range modes {
		s, _ := ends(t, mode)
		d := make([]byte, 64)
		sequence := []struct {
			number uint64
			want   error
		}{{5, nil}, {5, ErrNumber}, {4, ErrNumber}, {0, ErrNumber}, {6, nil}, {1<<64 - 1, nil}, {1<<64 - 1, ErrNumber}, {0, ErrNumber}, {9, ErrNumber}}
		for i, c := range sequence {
			before := bytes.Clone(d)
			if err := s.Seal(d, c.number); !errors.Is(err, c.want) {
				t.Fatalf("%v: call %d, number %d: %v, want %v", mode, i, c.number, err, c.want)
			}
			if c.want != nil && !bytes.Equal(d, before) {
				t.Fatalf("%v: call %d was refused and changed the datagram", mode, i)
			}
		}
		if err := s.Seal(d[:s.box.Overhead()-1], 1); err == nil {
			t.Errorf("%v: a short buffer was taken", mode)
		}
	}
}

func TestBadConfigurations(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"short key":    func(c *Config) { c.Key = c.Key[:MinKey-1] },
		"no ranks":     func(c *Config) { c.Size = 0 },
		"rank":         func(c *Config) { c.Rank = 4 },
		"negative":     func(c *Config) { c.Rank = -1 },
		"incarnations": func(c *Config) { c.Incarnations = c.Incarnations[:3] },
		"mode":         func(c *Config) { c.Mode = 3 },
	} {
		c := config(1, Encrypt)
		edit(&c)
		if _, err := New(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := mustBox(t, config(1, Encrypt))
	mustSender(t, b, 2)
	for _, dst := range []int{2, -1, 4} {
		if _, err := b.Sender(dst); !errors.Is(err, ErrConfig) {
			t.Errorf("sender to %d: %v", dst, err)
		}
	}
	for _, m := range modes {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("maybe"); err == nil {
		t.Error("ParseMode took maybe")
	}
}

func TestStatsCountEachVerdict(t *testing.T) {
	s, b := ends(t, Encrypt)
	d := sealed(t, s, 10_000, []byte(vectorPayload))
	old := bytes.Clone(d)
	old[HeaderSize-2], old[HeaderSize-1] = 0, 1
	forged := bytes.Clone(d)
	forged[22]++
	stray := bytes.Clone(d)
	stray[15] = 0
	for _, x := range [][]byte{bytes.Clone(d), d, old, forged, stray, d[:9], make([]byte, 99)} {
		b.Open(bytes.Clone(x))
	}
	want := Stats{Opened: 1, Short: 1, Foreign: 1, Stray: 1, Old: 1, Replayed: 1, Forged: 1, Derived: 1}
	if got := b.Stats(); got != want || got.Refused() != 6 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
