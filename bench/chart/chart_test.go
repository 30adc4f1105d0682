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
	"gonum.org/v1/plot"

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
	if err := Write(path, "a machine, 2 CPUs", rows()); err != nil {
		t.Fatal(err)
	}
	text := texts(t, path)
	for _, want := range []string{"latency", "threads", "rate", "golci", "openmpi", "bytes", "messages/s", "us", "a machine, 2 CPUs", "1Mi", "1Ki"} {
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
		if err := Write(path, "", rows); !errors.Is(err, ErrEmpty) {
			t.Errorf("error %v, want %v", err, ErrEmpty)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file was made all the same: %v", err)
	}
}

func TestPathThatCannotBeWritten(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "no", "such.svg"), "", rows()); err == nil {
		t.Error("no error")
	}
}

// TestForms: a figure has the form that its name says.
func TestForms(t *testing.T) {
	for suffix, begin := range map[string]string{"svg": "<?xml", "PNG": "\x89PNG\r\n", "pdf": "%PDF-"} {
		path := filepath.Join(t.TempDir(), "out."+suffix)
		if err := errors.Join(Check(path), Write(path, "", rows())); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(b), begin) {
			t.Errorf("%s begins with %q, %v", suffix, b[:min(len(b), 8)], err)
		}
	}
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "x.gif"), filepath.Join(dir, "x")} {
		if err := errors.Join(Check(path), Write(path, "", rows())); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := Check(filepath.Join(dir, "no", "x.svg")); err == nil {
		t.Error("a directory that is not there can be written")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("%d files are left, %v", len(all), err)
	}
}

func TestUndrawn(t *testing.T) {
	got := Undrawn(rows())
	if len(got) != 1 || got[0] != "threads of mpich with 8 bytes and 1024 threads: 0 messages/s" {
		t.Errorf("%q", got)
	}
}

// TestTicks: an axis has some labels, and not too many, whatever lies on it.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticker      plot.Ticker
		least, most float64
	}{
		{binary{}, 0.7, 1.5},
		{binary{}, 0.7, 4 << 20},
		{binary{}, 5, 12},
		{binary{}, 1, 1 << 40},
		{decimal{}, 0.9e6, 2.1e6},
		{decimal{}, 1e-3, 1e6},
		{decimal{}, 0.2, 40},
		{decimal{}, 1.3e6, 2.9e6},
		{decimal{}, 3, 7},
	} {
		labels := 0
		for _, tick := range c.ticker.Ticks(c.least, c.most) {
			if tick.Value < c.least || tick.Value > c.most {
				t.Errorf("%T %g to %g: %g", c.ticker, c.least, c.most, tick.Value)
			}
			if tick.Label != "" {
				labels++
			}
		}
		if labels < 1 || labels > mostLabels+1 {
			t.Errorf("%T %g to %g: %d labels", c.ticker, c.least, c.most, labels)
		}
	}
}
