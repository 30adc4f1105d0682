package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/golci/golci/examples/internal/graph"
)

type edge = graph.Edge

// input is where edges come from. Its parts together are the whole, whatever their number.
type input interface {
	Share(part, parts int) ([]edge, error)
}

// maxLine bounds a line of an edge list, comments included.
const maxLine = 1 << 20

// edgeFile is an edge list in the format of SNAP: one edge a line as two ids, and lines that begin with '#' as
// comments. All ranks must see it under the same name. It does not keep it open.
type edgeFile struct{ path string }

// Share reads the lines that begin in one of equal parts of the file.
func (e edgeFile) Share(part, parts int) ([]edge, error) {
	f, err := os.Open(e.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file, which ranks could share", e.path)
	}
	begin, end := graph.Cut(info.Size(), part, parts), graph.Cut(info.Size(), part+1, parts)
	edges, err := readLines(f, begin, end)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.path, err)
	}
	return edges, nil
}

// readLines reads the edges of the lines that begin in [begin, end) of r.
func readLines(r io.ReaderAt, begin, end int64) ([]edge, error) {
	if begin >= end {
		return nil, nil
	}
	// A line begins at begin if the byte before is a line feed, so that one is read, too.
	at := max(begin-1, 0)
	next := at
	lines := bufio.NewScanner(io.NewSectionReader(r, at, 1<<62))
	lines.Buffer(nil, maxLine)
	lines.Split(func(data []byte, last bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, last)
		next += int64(n)
		return n, line, err
	})
	var edges []edge
	if begin > 0 && !lines.Scan() {
		return nil, lines.Err()
	}
	for begin := next; begin < end && lines.Scan(); begin = next {
		e, ok, err := parseLine(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line at byte %d: %w", begin, err)
		}
		if ok {
			edges = append(edges, e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line at byte %d: %w", next, err)
	}
	return edges, nil
}

// parseLine reads one line. ok is false if there is no edge in it.
func parseLine(line []byte) (e edge, ok bool, err error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '#' {
		return e, false, nil
	}
	fields := bytes.Fields(line)
	if len(fields) != 2 {
		return e, false, fmt.Errorf("%d fields, want two ids", len(fields))
	}
	for i, id := range []*uint64{&e.From, &e.To} {
		if *id, err = strconv.ParseUint(string(fields[i]), 10, 64); err != nil {
			return e, false, err
		}
	}
	return e, true, nil
}

type mirrored struct{ input }

func (m mirrored) Share(part, parts int) ([]edge, error) {
	edges, err := m.input.Share(part, parts)
	for _, e := range edges {
		edges = append(edges, edge{From: e.To, To: e.From})
	}
	return edges, err
}
