//go:build unix

package launch

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// slow takes its time for each write.
type slow struct{ bytes.Buffer }

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(2 * idleDrain)
	return s.Buffer.Write(b)
}

// TestDrain: what is in the pipe at the rank's end comes out, though the reader is slower than the time limit. A
// stranger that holds the pipe open does not delay the end.
func TestDrain(t *testing.T) {
	for _, held := range []bool{false, true} {
		out := new(slow)
		d, theirs, err := newDrain(out)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("0123456789abcde\n", 4<<10) // as much as a pipe holds
		if _, err := theirs.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if !held {
			theirs.Close()
		}
		d.finishCopy()
		theirs.Close()
		if out.String() != text {
			t.Errorf("held %v: %d of %d bytes came out", held, out.Len(), len(text))
		}
	}
}
