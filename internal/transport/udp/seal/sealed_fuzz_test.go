package seal

import (
	"bytes"
	"testing"
)

// FuzzSealed seals and opens: with the right keys the payload comes back and comes only once; with another job key,
// to another rank, in another life, or with one bit changed it is refused.
func FuzzSealed(f *testing.F) {
	f.Add([]byte(vectorPayload), uint64(1), byte(Encrypt), uint(0), byte(0))
	f.Add([]byte{}, uint64(1<<64-1), byte(Authenticate), uint(191), byte(7))
	f.Add([]byte{0}, uint64(RekeyAfter), byte(Trust), uint(64), byte(200))
	f.Fuzz(func(t *testing.T, payload []byte, number uint64, m byte, bit uint, other byte) {
		mode := Mode(m % byte(len(modes)))
		s, b := ends(t, mode)
		d := sealed(t, s, number, payload)
		strangers(t, mode, d, other)
		bad := bytes.Clone(d)
		bit %= uint(8 * len(bad))
		bad[bit/8] ^= 1 << (bit % 8)
		if _, _, got, v := b.Open(bad); v == Opened || got != nil {
			t.Fatalf("with bit %d of %d bytes changed: %v", bit, len(d), v)
		}
		if b.receiver(1) != nil {
			t.Fatal("a forgery took memory")
		}
		if mode == Trust {
			number = uint64(uint32(number))
		}
		src, n, got, v := b.Open(bytes.Clone(d))
		if v != Opened || src != 1 || n != number || !bytes.Equal(got, payload) {
			t.Fatalf("%v from rank %d, number %d, %d bytes; want rank 1, number %d, %d bytes", v, src, n, len(got), number, len(payload))
		}
		if mode == Encrypt && len(payload) >= 16 && bytes.Contains(d, payload) {
			t.Fatal("the payload can be read")
		}
		want := Replayed
		if mode == Trust {
			want = Opened
		}
		if _, _, _, v := b.Open(d); v != want {
			t.Fatalf("once more: %v, want %v", v, want)
		}
	})
}

// strangers have d opened by those to whom it does not belong. What a life changes is known only to who checks tags.
func strangers(t *testing.T, mode Mode, d []byte, other byte) {
	t.Helper()
	key, rank, life, restarted := config(2, mode), config(3, mode), config(2, mode), config(2, mode)
	key.Key[int(other)%len(key.Key)] ^= 1 + other>>5
	life.Incarnations[1] += 1 + uint64(other)
	restarted.Incarnations[2] += 1 + uint64(other)
	for name, c := range map[string]Config{"another key": key, "another rank": rank, "another life": life, "a rank that was restarted": restarted} {
		if mode == Trust && (name == "another life" || name == "a rank that was restarted") {
			continue
		}
		if _, _, got, v := mustBox(t, c).Open(bytes.Clone(d)); v == Opened || got != nil {
			t.Fatalf("opened with %s: %v, %d bytes", name, v, len(got))
		}
	}
}
