package pmi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of the protocol, in bytes.
const (
	MaxSend   = 1024     // longest line a client sends, line feed included: Slurm takes one read per command
	MaxRead   = 64 << 10 // longest line read; other servers send more than MaxSend
	MaxKey    = 64       // longest key the server announces
	MaxValue  = 1024     // longest value the server announces
	MaxName   = 256      // longest name of a key space
	SafeValue = 640      // value that fits into MaxSend beside any key and key space name of the limits above
)

// Errors of the codec.
var (
	ErrLineTooLong = errors.New("pmi: line too long")
	ErrSyntax      = errors.New("pmi: not a PMI-1 line")
)

// Field is one key=value pair of a line.
type Field struct{ Key, Value string }

// Msg is one line. Cmd is the value of its cmd (or mcmd) field; Fields are the others, in their order.
type Msg struct {
	Cmd    string
	Fields []Field
}

// M builds a message from pairs of key and value; an odd last key is dropped.
func M(cmd string, kv ...string) Msg {
	m := Msg{Cmd: cmd}
	for i := 0; i+1 < len(kv); i += 2 {
		m.Fields = append(m.Fields, Field{kv[i], kv[i+1]})
	}
	return m
}

// Get returns the value of the first field named key.
func (m Msg) Get(key string) (string, bool) {
	for _, f := range m.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Str is Get with "" for a missing field.
func (m Msg) Str(key string) string {
	v, _ := m.Get(key)
	return v
}

// Int returns the field key as a decimal number; a missing or malformed field is an error.
func (m Msg) Int(key string) (int, error) {
	v, ok := m.Get(key)
	if !ok {
		return 0, fmt.Errorf("%w: cmd=%s lacks %s", ErrSyntax, m.Cmd, key)
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("%w: %s has a field %s that is no number", ErrSyntax, m, key)
	}
	return n, nil
}

// returnCode is the result code of an answer: 0, success, when the field is absent.
func (m Msg) returnCode() int {
	v, ok := m.Get("rc")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return -1
	}
	return n
}

// Parse reads one line; a line feed at its end is optional. Words without '=' are skipped, because some servers put
// spaces into their msg texts. The message does not keep line.
func Parse(line []byte) (Msg, error) {
	if len(line) > MaxRead {
		return Msg{}, ErrLineTooLong
	}
	line = bytes.TrimRight(line, "\r\n\x00")
	if bytes.IndexByte(line, '\n') >= 0 {
		return Msg{}, fmt.Errorf("%w: a line feed inside", ErrSyntax)
	}
	var m Msg
	found := false
	for word := range strings.FieldsFuncSeq(string(line), isBlank) {
		k, v, ok := strings.Cut(word, "=")
		switch {
		case !ok || k == "":
		case (k == "cmd" || k == "mcmd") && !found:
			m.Cmd, found = v, true
		default:
			m.Fields = append(m.Fields, Field{k, v})
		}
	}
	if m.Cmd == "" {
		return Msg{}, fmt.Errorf("%w: %d bytes without a command", ErrSyntax, len(line))
	}
	return m, nil
}

// Append appends m as one line with its line feed to dst. It fails for a name or value that the framing cannot carry
// and for a line above MaxRead. The sender of a request also keeps to MaxSend.
func (m Msg) Append(dst []byte) ([]byte, error) {
	if m.Cmd == "" || !isPlain(m.Cmd) {
		return dst, fmt.Errorf("%w: command %q", ErrSyntax, m.Cmd)
	}
	start := len(dst)
	dst = append(append(dst, "cmd="...), m.Cmd...)
	for _, f := range m.Fields {
		if f.Key == "" || !isPlain(f.Key) || strings.Contains(f.Key, "=") || !isPlain(f.Value) {
			return dst[:start], fmt.Errorf("%w: field %q of %d bytes", ErrSyntax, f.Key, len(f.Value))
		}
		dst = append(append(append(append(dst, ' '), f.Key...), '='), f.Value...)
	}
	dst = append(dst, '\n')
	if len(dst)-start > MaxRead {
		return dst[:start], ErrLineTooLong
	}
	return dst, nil
}

// String is the line without its line feed, for messages. Of a value there is only the length: it may be the job's key.
func (m Msg) String() string {
	shown := Msg{Cmd: m.Cmd, Fields: slices.Clone(m.Fields)}
	for i, f := range shown.Fields {
		if f.Key == fieldValue {
			shown.Fields[i].Value = fmt.Sprintf("(%d_bytes)", len(f.Value))
		}
	}
	b, err := shown.Append(nil)
	if err != nil {
		return "cmd=" + m.Cmd + " (malformed)"
	}
	return string(b[:len(b)-1])
}

// fieldValue is the field with the content of a key. It is never shown.
const fieldValue = "value"

func isPlain(s string) bool { return strings.IndexFunc(s, isBlank) < 0 }

// isBlank has the characters that end a word: the blank, and those that end a line for one reader or another.
func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == 0 }
