package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Summary tells what a timeline has of one rank.
type Summary struct {
	Rank    int    `json:"rank"`
	Size    int    `json:"size"` // ranks of the job
	Host    string `json:"host"`
	Records uint64 `json:"records"`
	Dropped uint64 `json:"dropped"` // records for which there was no room
	Ended   bool   `json:"ended"`   // the rank has ended its part in order
}

// lacksRecords says what the timeline lacks of the rank; "" for nothing.
func (s *Summary) lacksRecords() string {
	switch {
	case !s.Ended && s.Dropped > 0:
		return fmt.Sprintf("rank %d: its part ends early, and %d records were dropped", s.Rank, s.Dropped)
	case !s.Ended:
		return fmt.Sprintf("rank %d: its part ends early", s.Rank)
	case s.Dropped > 0:
		return fmt.Sprintf("rank %d: %d records were dropped", s.Rank, s.Dropped)
	}
	return ""
}

// Lacks lists what the timeline of a job lacks, a sentence for each rank.
func Lacks(all []Summary) (texts []string) {
	size := 0
	for i := range all {
		size = max(size, all[i].Size)
		if text := all[i].lacksRecords(); text != "" {
			texts = append(texts, text)
		}
	}
	for rank := range size {
		if !slices.ContainsFunc(all, func(s Summary) bool { return s.Rank == rank }) {
			texts = append(texts, fmt.Sprintf("rank %d: there is no part of it", rank))
		}
	}
	return texts
}

// WriteFile makes the file at path the timeline of the files at parts, as Write does. The file is there when all of it
// is written.
func WriteFile(path string, parts []string) (all []Summary, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // fails where the file has its name
	all, err = Write(f, parts)
	if e := errors.Join(f.Chmod(0o644), f.Close()); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return all, err
}

// Write writes the timeline of the files at parts: parts, or timelines that Write has made. The format is the JSON of
// Chrome's traces, with ranks as processes and tracks as threads. The files of a job are written together: each rank's
// once. Write holds one block of records in memory, not more. The result tells of the ranks in their order.
func Write(w io.Writer, paths []string) (all []Summary, err error) {
	var parts []*part
	var made []string // timelines
	for _, path := range paths {
		p, err := openPart(path)
		if err == nil {
			parts = append(parts, p)
			all = append(all, p.summaryOf())
			continue
		}
		s, e := summariesOf(path)
		if e != nil {
			return nil, fmt.Errorf("%w; nor a timeline: %w", err, e)
		}
		made = append(made, path)
		all = append(all, s...)
	}
	slices.SortFunc(all, func(a, b Summary) int { return cmp.Compare(a.Rank, b.Rank) })
	for i := 1; i < len(all); i++ {
		if all[i].Rank == all[i-1].Rank {
			return nil, fmt.Errorf("two of the files have rank %d", all[i].Rank)
		}
	}
	out := &events{w: bufio.NewWriterSize(w, 1<<16)}
	err = out.beginFile(all)
	t := newTimeline(parts)
	for _, p := range parts {
		if err == nil {
			err = out.writePart(t, p)
		}
	}
	for _, path := range made {
		if err == nil {
			err = out.copyFrom(path)
		}
	}
	return all, errors.Join(err, out.endFile())
}

func (p *part) summaryOf() Summary {
	return Summary{Rank: p.Rank, Size: p.Size, Host: p.Host, Records: p.records, Dropped: p.dropped, Ended: p.ended}
}

// otherData is what a timeline tells beside its events.
type otherData struct {
	Ranks []Summary `json:"golci"`
}

// beginning is how Write begins a timeline. The rest is events, one a line.
const beginning = `{"displayTimeUnit":"ns","otherData":`

// skipToEvents reads the front of a timeline that Write has made, up to its first event, and returns its otherData.
// An error means that the JSON is no such timeline, or cannot be read.
func skipToEvents(d *json.Decoder) (other otherData, err error) {
	want := func(tokens ...json.Token) {
		for _, token := range tokens {
			got, e := d.Token()
			if err == nil && (e != nil || got != token) {
				err = fmt.Errorf("it is not one that golci has made: %w", cmp.Or(e, errPart))
			}
		}
	}
	want(json.Delim('{'), "displayTimeUnit", "ns", "otherData")
	if err == nil {
		err = d.Decode(&other)
	}
	want("traceEvents", json.Delim('['))
	return other, err
}

// skipToEnd leads d from behind the last event to the end of the timeline. It fails if the file is cut there.
func skipToEnd(d *json.Decoder) error {
	for _, want := range []json.Token{json.Delim(']'), json.Delim('}')} {
		if got, err := d.Token(); err != nil || got != want {
			return fmt.Errorf("it does not end as one that golci has made: %w", cmp.Or(err, errPart))
		}
	}
	return nil
}

func summariesOf(path string) ([]Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	other, err := skipToEvents(json.NewDecoder(f))
	return other.Ranks, err
}
