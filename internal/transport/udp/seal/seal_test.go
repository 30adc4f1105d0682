package seal

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
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

// private is what a rank has drawn in these tests.
func private(rank int) *ecdh.PrivateKey {
	k, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{byte(rank + 1)}, PublicSize))
	if err != nil {
		panic(err)
	}
	return k
}

func config(rank int, mode Mode) Config {
	c := Config{
		Key: jobKey(), Private: private(rank), Rank: rank, Size: 4, Incarnations: []uint64{0x9999, 0x1111, 0x2222, 0x3333}, Mode: mode,
	}
	for r := range c.Size {
		c.Publics = append(c.Publics, private(r).PublicKey().Bytes())
	}
	return c
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

// vectors were made by another implementation (HMAC-SHA-256, X25519 and AES-GCM of Python's cryptography package):
// job key 00..1f, from rank 1 of life 0x1111 and private key 02..02 to rank 2 of life 0x2222 and private key 03..03.
var vectors = []struct {
	mode   Mode
	number uint64
	hex    string
}{
	{Encrypt, 1, "836322675f337d98000000010000000200000000000000015a2cac03ca9eedcf92ec3bf445750a485e67f265d3e42d6371963357cda78fe6"},
	{Encrypt, 3<<22 + 5, "836322675f337d9800000001000000020000000000c00005cf2b6f6445792cd96a078d26b0d1d3fdf04ff0a16386a6f875bdc14c520fd3e8"},
	{Authenticate, 1, "71217b5de3c2e041000000010000000200000000000000017369787465656e2074686f7573616e645ea6adc2bbca2b2076fcc4ba42a512d5"},
	{Authenticate, 3<<22 + 5, "71217b5de3c2e04100000001000000020000000000c000057369787465656e2074686f7573616e648b6c10127cf7badb34d75da5a54d57db"},
	{Trust, 1, "459e48e2f9259c620000000100000002aaa4b099000000017369787465656e2074686f7573616e64"},
	{Trust, 3<<22 + 5, "459e48e2f9259c62000000010000000295ce6b3700c000057369787465656e2074686f7573616e64"},
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
		if b.receiver(1) != nil {
			t.Errorf("%v: forgeries took memory", mode)
		}
		expect(t, b, d, Opened, "the true one after all")
	}
}

// TestTrustFindsDamage: there a datagram is refused when cookie or rank differ, when bits have changed, and when it
// was cut.
func TestTrustFindsDamage(t *testing.T) {
	s, b := ends(t, Trust)
	d := sealed(t, s, 7, []byte(vectorPayload))
	for i := range len(d) * 8 {
		for _, k := range []int{i, (i + 1) % (len(d) * 8), (i + 77) % (len(d) * 8)} {
			bad := bytes.Clone(d)
			bad[i/8] ^= 1 << (i % 8)
			if k != i {
				bad[k/8] ^= 1 << (k % 8)
			}
			if _, _, _, v := b.Open(bad); v != Damaged && (v != Foreign && v != Stray || i >= 16*8 && k >= 16*8) {
				t.Fatalf("bits %d and %d flipped: %v", i, k, v)
			}
		}
	}
	for n := HeaderSize; n < len(d); n++ {
		expect(t, b, d[:n], Damaged, "cut")
	}
	expect(t, b, d, Opened, "first")
	expect(t, b, d, Opened, "again")
	expect(t, b, d[:HeaderSize-1], Short, "cut")
}

// TestParts: a datagram that is sealed in two parts is the same as one that is sealed in one; only Trust can.
func TestParts(t *testing.T) {
	for _, mode := range modes {
		whole, b := ends(t, mode)
		parts, _ := ends(t, mode)
		want := sealed(t, whole, 7, []byte(vectorPayload))
		d := append(make([]byte, HeaderSize), vectorPayload[:5]...)
		err := parts.SealParts(d, []byte(vectorPayload[5:]), 7)
		if mode != Trust {
			if !errors.Is(err, errBuffer) {
				t.Errorf("%v: %v", mode, err)
			}
			continue
		}
		if d = append(d, vectorPayload[5:]...); err != nil || !bytes.Equal(d, want) {
			t.Errorf("%x, %v; want %x", d, err, want)
		}
		expect(t, b, d, Opened, "two parts")
	}
}

// TestListenerToTheLauncher: who has the job key and all that the ranks have published opens nothing, whatever rank
// he takes for his own; nor can he make a datagram.
func TestListenerToTheLauncher(t *testing.T) {
	for _, mode := range []Mode{Encrypt, Authenticate} {
		s, b := ends(t, mode)
		d := sealed(t, s, 1, []byte(vectorPayload))
		for rank := range 4 {
			c := config(rank, mode)
			var err error
			if c.Private, err = NewPrivate(); err != nil {
				t.Fatal(err)
			}
			spy := mustBox(t, c)
			spy.cookie = b.cookie
			spy.cfg.Rank = 2
			if _, _, p, v := spy.Open(bytes.Clone(d)); v != Forged || p != nil {
				t.Errorf("%v: as rank %d he reads it: %v, %q", mode, rank, v, p)
			}
			if rank != 2 {
				spy.cfg.Rank = rank
				expect(t, b, sealed(t, mustSender(t, spy, 2), 2, []byte(vectorPayload)), Forged, "made by the listener")
			}
		}
		expect(t, b, d, Opened, "the true one")
	}
}

// TestAnotherRank: a rank of the job cannot read what others say to each other, nor speak in their names.
func TestAnotherRank(t *testing.T) {
	s, b := ends(t, Encrypt)
	d := sealed(t, s, 1, []byte(vectorPayload))
	bad := mustBox(t, config(3, Encrypt))
	bad.cfg.Rank, bad.cookie = 2, b.cookie
	expect(t, bad, d, Forged, "read by rank 3")
	liar := mustBox(t, config(3, Encrypt))
	liar.cfg.Rank = 1
	expect(t, b, sealed(t, mustSender(t, liar, 2), 2, []byte(vectorPayload)), Forged, "made by rank 3")
}

// TestBadPublicKeys: a key of small order, which makes the secret the same for all, is refused when it is needed.
func TestBadPublicKeys(t *testing.T) {
	c := config(1, Encrypt)
	c.Publics[2] = make([]byte, PublicSize)
	s := mustSender(t, mustBox(t, c), 2)
	if err := s.Seal(make([]byte, 100), 1); err == nil {
		t.Error("a datagram was sealed")
	}
	b := mustBox(t, c)
	d := sealed(t, mustSender(t, mustBox(t, config(2, Encrypt)), 1), 1, nil)
	expect(t, b, d, Forged, "from a rank with such a key")
}

// TestSequence is the same at both ends, another for each direction, job and life.
func TestSequence(t *testing.T) {
	seen := map[uint32]string{}
	for name, edit := range map[string]func(*Config){
		"the same": func(*Config) {}, "job": func(c *Config) { c.Key[0]++ }, "life": func(c *Config) { c.Incarnations[1]++ },
		"mode": func(c *Config) { c.Mode = Trust },
	} {
		for _, way := range [][2]int{{1, 2}, {2, 1}} {
			var n [2]uint32
			for i, rank := range []int{1, 2} {
				c := config(rank, Encrypt)
				edit(&c)
				var err error
				if n[i], err = mustBox(t, c).Sequence(way[0], way[1]); err != nil {
					t.Fatal(err)
				}
			}
			if other, there := seen[n[0]]; n[0] != n[1] || there {
				t.Errorf("%s, %v: %d and %d, as %s", name, way, n[0], n[1], other)
			}
			seen[n[0]] = name
		}
	}
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
			{"pair", func(*Config) {}, 3, Foreign},
			{"rank that is none", func(c *Config) {
				c.Rank, c.Size, c.Incarnations, c.Publics = 9, 10, nil, slices.Repeat(c.Publics[:1], 10)
			}, 2, Stray},
			{"private key", func(c *Config) { c.Private = private(0) }, 2, Forged},
			{"key published by the receiver", func(c *Config) { c.Publics[2] = c.Publics[3] }, 2, Forged},
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
		third, first := mustBox(t, config(3, mode)), mustBox(t, config(1, mode))
		binary.BigEndian.PutUint64(d, third.ownCookie())
		d[11], d[15] = 1, 3
		expect(t, third, d, Forged, "another destination")
		binary.BigEndian.PutUint64(d, first.ownCookie())
		d[11], d[15] = 2, 1 // the sender's own datagram, sent back
		expect(t, first, d, Forged, "the other direction")
	}
}

func TestNumbersAreUsedOnce(t *testing.T) {
	for _, mode := range modes {
		s, _ := ends(t, mode)
		d := make([]byte, 64)
		sequence := []struct {
			number uint64
			want   error
		}{{5, nil}, {5, errNumber}, {4, errNumber}, {0, errNumber}, {6, nil}, {1<<64 - 1, nil}, {1<<64 - 1, errNumber}, {0, errNumber}, {9, errNumber}}
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
		"private key":  func(c *Config) { c.Private = nil },
		"other curve":  func(c *Config) { c.Private, _ = ecdh.P256().GenerateKey(rand.Reader) },
		"public keys":  func(c *Config) { c.Publics = c.Publics[:3] },
		"public key":   func(c *Config) { c.Publics[3] = nil },
	} {
		c := config(1, Encrypt)
		edit(&c)
		if _, err := New(c); !errors.Is(err, errConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := mustBox(t, config(1, Encrypt))
	mustSender(t, b, 2)
	for _, dst := range []int{2, -1, 4} {
		if _, err := b.Sender(dst); !errors.Is(err, errConfig) {
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
