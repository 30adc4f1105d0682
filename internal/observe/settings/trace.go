package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// TraceFiles is the setting Trace, taken apart.
type TraceFiles struct {
	Timeline string // file of the timeline; "" for none
	Limit    int64  // bytes of the timeline as it is recorded
	Credits  string // file of the credits over time; "" for none
}

// Bounds of TraceFiles.Limit, and its default.
const (
	leastTraceLimit   = 1 << 20
	mostTraceLimit    = 1 << 40
	defaultTraceLimit = 256 << 20
)

// traceOff stands in the place of a timeline's file for none.
const traceOff = "off"

// Words of the options that follow the file.
const (
	limitOption   = "limit"
	creditsOption = "credits"
)

// TraceOf is the setting Trace of s.
func TraceOf(s *Set) TraceFiles {
	t, err := ParseTrace(Trace.Get(s))
	if err != nil {
		panic(err) // Parse has checked it
	}
	return t
}

// ParseTrace reads the file of a timeline and the options after it, as in "time.json,limit=1G,credits=c.json". The
// file may be missing. Options are read from the end, so that the file's name may have commas.
func ParseTrace(text string) (t TraceFiles, err error) {
	t.Limit = defaultTraceLimit
	for {
		at := strings.LastIndexByte(text, ',')
		name, value, ok := strings.Cut(text[at+1:], "=")
		if !ok || !isOption(name) {
			if at >= 0 && ok && isWord(name) {
				return t, fmt.Errorf("no option %q; want %s or %s", name, limitOption, creditsOption)
			}
			break
		}
		switch {
		case value == "":
			return t, fmt.Errorf("%s= has no value", name)
		case name == creditsOption:
			t.Credits = value
		default:
			if t.Limit, err = ParseSize(value); err != nil {
				return t, fmt.Errorf("%s: %w", name, err)
			}
			if t.Limit < leastTraceLimit || t.Limit > mostTraceLimit {
				return t, fmt.Errorf("%s: want from %d to %d bytes", name, leastTraceLimit, mostTraceLimit)
			}
		}
		text = text[:max(at, 0)]
		if at < 0 {
			break
		}
	}
	if name, _, ok := strings.Cut(text, "="); ok && isOption(name) {
		return t, fmt.Errorf("the value of %s has a comma", name)
	}
	if text != traceOff {
		t.Timeline = text
	}
	return t, nil
}

// String writes t as ParseTrace reads it.
func (t TraceFiles) String() string {
	text := t.Timeline
	if text == "" {
		text = traceOff
	}
	if t.Limit != defaultTraceLimit && t.Limit != 0 {
		text += fmt.Sprintf(",%s=%d", limitOption, t.Limit)
	}
	if t.Credits != "" {
		text += "," + creditsOption + "=" + t.Credits
	}
	return text
}

func isOption(name string) bool { return name == limitOption || name == creditsOption }

// isWord says whether name has letters only, at least one.
func isWord(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
}

func checkTrace(text string) (string, error) {
	_, err := ParseTrace(text)
	return text, err
}

const rankMark = "%r" // in the name of a file

// RankFile is the file of one rank that a setting names. Where the name does not tell ranks apart an ending does.
func RankFile(path string, rank, size int) string {
	if size > 1 && !strings.Contains(path, rankMark) {
		path += "." + rankMark
	}
	return strings.ReplaceAll(path, rankMark, strconv.Itoa(rank))
}
