//go:build unix

package launch

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/job/boot"
)

func TestPrefixer(t *testing.T) {
	var buf bytes.Buffer
	p := &prefixer{out: &shared{w: &buf}, prefix: "[3] "}
	for _, s := range []string{"a", "b\nc\n\nd", "", "e", "\nlast"} {
		if n, err := p.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("write %q: %d, %v", s, n, err)
		}
	}
	if err := errors.Join(p.flushLine(), p.flushLine()); err != nil {
		t.Fatal(err)
	}
	if want := "[3] ab\n[3] c\n[3] \n[3] de\n[3] last\n"; buf.String() != want {
		t.Errorf("got %q, want %q", buf.String(), want)
	}
}

// TestPrefixerPieces: how the text is cut into writes makes no difference.
func TestPrefixerPieces(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	text := strings.Repeat("one\n\ntwo and more\nx", 40) + "\n"
	var want strings.Builder
	for line := range strings.Lines(text) {
		want.WriteString("> " + line)
	}
	for range 200 {
		var buf bytes.Buffer
		p := &prefixer{out: &shared{w: &buf}, prefix: "> "}
		for rest := text; rest != ""; {
			n := 1 + r.IntN(len(rest))
			_, _ = p.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if buf.String() != want.String() {
			t.Fatalf("seed %d: got %q", seed, buf.String())
		}
	}
}

// TestPrefixerWholeLines: a long line comes out in one piece, and does not cost its memory for ever.
func TestPrefixerWholeLines(t *testing.T) {
	var buf bytes.Buffer
	p := &prefixer{out: &shared{w: &buf}, prefix: "> "}
	line := strings.Repeat("x", 3<<20) + "\n"
	for rest := line + "y"; rest != ""; {
		n := min(len(rest), 32<<10)
		_, _ = p.Write([]byte(rest[:n]))
		rest = rest[n:]
	}
	if buf.String() != "> "+line || cap(p.rest) > keepLine {
		t.Errorf("%d bytes in %d lines; %d bytes are kept", buf.Len(), strings.Count(buf.String(), "\n"), cap(p.rest))
	}
}

func TestPrefixerLongLine(t *testing.T) {
	var buf bytes.Buffer
	p := &prefixer{out: &shared{w: &buf}, prefix: "> "}
	_, _ = p.Write(bytes.Repeat([]byte("x"), maxLine))
	if got := buf.Len(); got != maxLine+len("> \n") {
		t.Errorf("a line without end: %d bytes written", got)
	}
}

func TestRankEnv(t *testing.T) {
	clean := cleanEnv([]string{
		"A=1", "PMI_FD=9", "OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0", "GOLCI_JOB=x", "GOLCI_JOBS=2", "HOME=/",
		"GOLCI_RANK=1", "GOLCI_SIZE=2", "GOLCI_ROOT=a:1", "GOLCI_SECRET=hush", "GOLCI_SECRETS=3",
	})
	if !slices.Equal(clean, []string{"A=1", "GOLCI_JOBS=2", "HOME=/", "GOLCI_SECRETS=3"}) {
		t.Errorf("clean: %q", clean)
	}
	one := rankEnv(clean, "id", rankSlot{1, 3, 0, 2}, 3)
	two := rankEnv(clean, "id", rankSlot{2, 3, 1, 2}, 3)
	for _, want := range []string{"A=1", "PMI_FD=3", "PMI_RANK=1", "PMI_SIZE=3", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=2", "GOLCI_JOB=id"} {
		if !slices.Contains(one, want) {
			t.Errorf("rank 1 lacks %s: %q", want, one)
		}
	}
	if !slices.Contains(two, "PMI_RANK=2") || !slices.Contains(one, "PMI_RANK=1") {
		t.Error("the ranks share an environment")
	}
}

func TestProcessors(t *testing.T) {
	for workers, want := range map[int]int{0: 2, 1: 2, 2: 3, 8: 9} {
		if got := processorsFor(workers); got != want {
			t.Errorf("%d workers: GOMAXPROCS %d, want %d", workers, got, want)
		}
	}
	if n := askedWorkers([]string{"GOLCI_WORKERS=2", "GOLCI_WORKERS=5"}, 9); n != 5 {
		t.Errorf("the last one wins: %d", n)
	}
	if n := askedWorkers([]string{"GOLCI_WORKERS=0"}, 9); n != 9 {
		t.Errorf("0 leaves the choice: %d", n)
	}
}

func TestSpecCheck(t *testing.T) {
	good := Spec{Commands: []boot.Command{{N: 1, Argv: []string{"x"}}}, Bind: "none"}
	for name, change := range map[string]func(*Spec){
		"no ranks":   func(s *Spec) { s.Commands[0].N = 0 },
		"too many":   func(s *Spec) { s.Commands[0].N = MaxRanks + 1 },
		"together":   func(s *Spec) { s.Commands = append(s.Commands, boot.Command{N: MaxRanks, Argv: []string{"y"}}) },
		"a part":     func(s *Spec) { s.Commands = append(s.Commands, boot.Command{Argv: []string{"y"}}) },
		"no program": func(s *Spec) { s.Commands[0].Argv = nil },
		"nothing":    func(s *Spec) { s.Commands = nil },
		"bind":       func(s *Spec) { s.Bind = "socket" },
	} {
		s := good
		s.Commands = slices.Clone(good.Commands)
		change(&s)
		if code, err := Run(&s, nil); err == nil || code == 0 {
			t.Errorf("%s: code %d, %v", name, code, err)
		}
	}
	if err := good.checkSpec(1); err != nil {
		t.Error(err)
	}
}
