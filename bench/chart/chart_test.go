package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rows() []bench.Row {
	return []bench.Row{
		{Bench: "latency", Impl: bench.Golci, Size: 0, Threads: 1, Value: 0.2, Unit: bench.Micro},
		{Bench: "latency", Impl: bench.Golci, Size: 1 << 20, Threads: 1, Value: 40, Unit: bench.Micro},
		{Bench: "latency", Impl: "openmpi", Size: 8, Threads: 1, Value: 0.3, Unit: bench.Micro},
		{Bench: "threads", Impl: bench.Golci, Size: 8, Threads: 1, Value: 8e6, Unit: bench.PerSecond},
		{Bench: "threads", Impl: bench.Golci, Size: 8, Threads: 1024, Value: 15e6, Unit: bench.PerSecond},
		{Bench: "threads", Impl: "mpich", Size: 8, Threads: 1024, Value: 0, Unit: bench.PerSecond},
		{Bench: "rate", Impl: bench.Golci, Size: 8, Threads: 1, Value: 20e6, Unit: bench.PerSecond}, // one point only
	}
}

func TestWriteDrawsEveryBenchmark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	if err := Write(path, rows()); err != nil {
		t.Fatal(err)
	}
	text := texts(t, path)
	for _, want := range []string{"latency", "threads", "rate", "golci", "openmpi", "bytes", "messages/s", "us"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %q among the texts of the figure:\n%s", want, text)
		}
	}
	if strings.Contains(text, "mpich\n") {
		t.Error("a row without a value is in the legend")
	}
}

// texts also proves the file to be well-formed XML.
func texts(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for d := xml.NewDecoder(f); ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			b.WriteString(strings.TrimSpace(string(c)) + "\n")
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	for _, rows := range [][]bench.Row{nil, {{Bench: "threads", Impl: "mpich"}}} {
		if err := Write(path, rows); !errors.Is(err, ErrEmpty) {
			t.Errorf("error %v, want %v", err, ErrEmpty)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file was made all the same: %v", err)
	}
}

func TestPathThatCannotBeWritten(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "no", "such.svg"), rows()); err == nil {
		t.Error("no error")
	}
}
