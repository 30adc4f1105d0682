package conduit

import (
	"errors"
	"testing"
)

// told is a sink that counts what it is told.
type told map[int]int

func (told) Record(int, []byte)              {}
func (told) Bulk(int, uint64, int64, []byte) {}
func (s told) Gone(peer int, err error)      { s[peer]++ }
func all(int) bool                           { return true }
func news(t *testing.T, f *Failures, want News) {
	t.Helper()
	if got := f.News(); got != want {
		t.Errorf("news %d, want %d", got, want)
	}
}

// TestFailures: the first reason stays, each failure is told once and not before it is over, and none after Close.
func TestFailures(t *testing.T) {
	var f Failures
	f.Init(130)
	s := told{}
	news(t, &f, NoNews)
	if err := f.Failed(130); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a rank outside the job: %v", err)
	}
	f.Add(129, ErrPeerDied, "")
	f.Add(129, ErrPeerClosed, "")
	f.Add(64, ErrPeerClosed, "")
	if err := f.Failed(129); !errors.Is(err, ErrPeerDied) || !f.Has(129) || f.Has(128) || !f.Lost(64) {
		t.Errorf("rank 129: %v", err)
	}
	f.Tell(s, func(peer int) bool { return peer == 64 })
	news(t, &f, PeerGone)
	f.Tell(s, all)
	f.Tell(s, all)
	news(t, &f, NoNews)
	if s[64] != 1 || s[129] != 1 || len(s) != 2 {
		t.Errorf("told %v", s)
	}
	f.Add(1, ErrPeerDied, "")
	if !f.Close() || f.Close() {
		t.Error("Close does not tell which was the first")
	}
	f.Add(2, ErrPeerDied, "")
	f.Tell(s, all)
	news(t, &f, OwnEnd)
	if len(s) != 2 || !f.Has(5) || f.Lost(5) || !f.Lost(2) {
		t.Errorf("after Close: told %v", s)
	}
	for peer, want := range map[int]error{1: ErrPeerDied, 2: ErrClosed, 5: ErrClosed} {
		if err := f.Failed(peer); !errors.Is(err, want) {
			t.Errorf("rank %d after Close: %v, want %v", peer, err, want)
		}
	}
}
