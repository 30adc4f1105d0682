package seal

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// FuzzOpen feeds datagrams that the job did not send: nothing may be let in but the seeds themselves.
func FuzzOpen(f *testing.F) {
	for _, v := range vectors {
		d, err := hex.DecodeString(v.hex)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(d, byte(v.mode))
	}
	f.Add([]byte{}, byte(Trust))
	f.Fuzz(func(t *testing.T, d []byte, m byte) {
		mode := Mode(m % byte(len(modes)))
		true1 := false
		for _, v := range vectors {
			true1 = true1 || v.mode == mode && v.hex == hex.EncodeToString(d)
		}
		b := mustBox(t, config(2, mode))
		src, number, payload, verdict := b.Open(bytes.Clone(d))
		switch {
		case verdict != Opened && (src != 0 || number != 0 || payload != nil):
			t.Fatalf("%v, and yet rank %d, number %d, %d bytes", verdict, src, number, len(payload))
		case verdict == Opened && mode != Trust && !true1:
			t.Fatalf("a forgery was let in: %x", d)
		case verdict == Opened && (src >= 4 || len(payload) != len(d)-b.Overhead()):
			t.Fatalf("rank %d, %d bytes of %d", src, len(payload), len(d))
		case true1 && verdict != Opened:
			t.Fatalf("the true one was refused: %v", verdict)
		}
		if verdict != Opened && b.receiver(1) != nil {
			t.Fatal("a refused datagram took memory")
		}
	})
}
