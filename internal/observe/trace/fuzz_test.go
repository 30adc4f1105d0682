package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// recorded is one track with records of all kinds, under names that the program has chosen.
type recorded struct {
	label       Label
	track, host string
	record      Record // its numbers are those of all
}

// save makes a part of what is recorded.
func (x *recorded) save(t *testing.T) string {
	t.Helper()
	d := newDraft(0, x.host)
	d.track(0, x.track)
	d.label(1, x.label)
	e := x.record
	e.Name = 1
	for _, k := range []Kind{Slice | FlowOut, Instant, Count, Span | FlowIn} {
		e.Kind = k
		d.add(0, e)
	}
	d.writeBlock(blockEnd, 0, nil)
	return d.save(t)
}

// legible is what becomes of a text: each byte that is not UTF-8 is a replacement character.
func legible(s string) string { return string([]rune(s)) }

// arguments are the names and numbers of a JSON object, in their order.
func arguments(t *testing.T, object []byte) (all []string) {
	t.Helper()
	if len(object) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		if _, ok := token.(json.Delim); !ok {
			all = append(all, fmt.Sprint(token))
		}
	}
}

// FuzzWrite: whatever names and numbers a program records, the timeline is JSON, and has each of them as it was.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{
		"task", "", `say "poll"`, "\\", "a\x00b\n\t\x7f", "\xff\xc3\x28", "</script>\u2028", "日本語", `a":1,"`,
	} {
		f.Add(s, s, s+"1", s+"2", s, s, uint64(1000), uint64(2000), uint64(3), ^uint64(0), uint64(1<<53+1))
		f.Add("text", "kind", s, "", "lane", s, uint64(1)<<63, ^uint64(0), uint64(0), uint64(1)<<63, uint64(0))
	}
	f.Add("text", "kind", "a", "b", "lane", "host", ^uint64(0)>>1, uint64(0), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, text, category, arg, other, lane, host string, start, end, a, b, flow uint64) {
		x := recorded{
			label: Label{Text: text, Category: category, Args: [3]string{arg, "", other}}, track: lane, host: host,
			record: Record{Start: start, End: end, A: a, B: b, Flow: flow},
		}
		path := x.save(t)
		out := written(t, path)
		x.check(t, out)
		merged := filepath.Join(t.TempDir(), "made")
		if err := os.WriteFile(merged, out, 0o600); err != nil {
			t.Fatal(err)
		}
		if again := written(t, merged); !bytes.Equal(again, out) {
			t.Errorf("written again it is\n%s\nwas\n%s", again, out)
		}
	})
}

// check fails the test for what is not in the timeline, or not as it was.
func (x *recorded) check(t *testing.T, out []byte) {
	t.Helper()
	var all struct {
		Events []event `json:"traceEvents"`
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	text, category := legible(x.label.Text), cmp.Or(legible(x.label.Category), "golci")
	var args []string
	for i, v := range []uint64{x.record.A, x.record.B, x.record.Flow} {
		if name := x.label.Args[i]; name != "" {
			args = append(args, legible(name), strconv.FormatUint(v, 10))
		}
	}
	id := "0x" + strconv.FormatUint(x.record.Flow, 16)
	want := map[string]func(e event) bool{
		"X": func(e event) bool { return e.Name == text && slices.Equal(arguments(t, e.Args), args) },
		"i": func(e event) bool { return e.Name == text && slices.Equal(arguments(t, e.Args), args) },
		"b": func(e event) bool { return e.Name == text && slices.Equal(arguments(t, e.Args), args) },
		"e": func(e event) bool { return e.Name == text },
		"C": func(e event) bool {
			value := []string{"value", strconv.FormatUint(x.record.A, 10)}
			return e.Name == text && slices.Equal(arguments(t, e.Args), value)
		},
		"s": func(e event) bool { return e.Name == category && e.ID == id },
		"f": func(e event) bool { return e.Name == category && e.ID == id },
	}
	count := map[string]int{}
	for _, e := range all.Events {
		if e.Phase == "M" {
			x.title(t, e)
			continue
		}
		count[e.Phase]++
		if f := want[e.Phase]; f == nil || !f(e) || e.Category != category {
			t.Errorf("event %+v with %s, of %+v", e, e.Args, x)
		}
	}
	for phase := range want {
		if count[phase] != 1 {
			t.Errorf("%d events %q in\n%s", count[phase], phase, out)
		}
	}
}

// title checks the names of rank and track.
func (x *recorded) title(t *testing.T, e event) {
	t.Helper()
	name := map[string]string{
		"thread_name": legible(x.track), "process_name": fmt.Sprintf("rank 0 (host-%s)", legible(x.host)),
	}
	var got struct{ Name string }
	if want, ok := name[e.Name]; ok && (json.Unmarshal(e.Args, &got) != nil || got.Name != want) {
		t.Errorf("%s is %q, want %q", e.Name, got.Name, want)
	}
}

// FuzzPart: a file that is no part, or a damaged one, gives an error or a timeline that is JSON. What the other ranks
// have recorded is in that timeline.
func FuzzPart(f *testing.F) {
	a, b := drafts()
	whole := b.buf
	f.Add(whole)
	f.Add(a.buf)
	f.Add(whole[:len(whole)-1])
	late := newDraft(1, "a")
	late.label(1, Label{Text: "late"})
	late.add(0, Record{Start: 1 << 63, End: 1<<63 - 1, Name: 1, Kind: Slice})
	f.Add(late.buf)
	dir := f.TempDir()
	sound, other := filepath.Join(dir, "sound"), filepath.Join(dir, "other")
	if err := os.WriteFile(sound, a.buf, 0o600); err != nil {
		f.Fatal(err)
	}
	for _, part := range [][]byte{whole, late.buf} {
		if err := os.WriteFile(other, part, 0o600); err != nil {
			f.Fatal(err)
		}
		var made bytes.Buffer
		if _, err := Write(&made, []string{other}); err != nil {
			f.Fatal(err)
		}
		f.Add(made.Bytes())
		f.Add(made.Bytes()[:made.Len()-4])
	}
	f.Fuzz(func(t *testing.T, part []byte) {
		if err := os.WriteFile(other, part, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		all, err := Write(&out, []string{sound, other})
		if err != nil {
			return
		}
		whole := json.NewDecoder(bytes.NewReader(part)).Decode(new(json.RawMessage)) == nil
		if bytes.HasPrefix(part, []byte(beginning)) && !whole {
			t.Errorf("a timeline that is cut has been taken:\n%s", part)
		}
		if !slices.ContainsFunc(all, func(s Summary) bool { return s.Rank == 0 && s.Host == "host-a" }) {
			t.Errorf("the summaries are %+v", all)
		}
		hasSound(t, out.Bytes())
	})
}

// hasSound fails the test if the first of the parts of drafts is not in a timeline.
func hasSound(t *testing.T, out []byte) {
	t.Helper()
	if !json.Valid(out) {
		t.Fatalf("no JSON:\n%s", out)
	}
	for _, text := range []string{
		`"process_name","args":{"name":"rank 0 (host-a)"}`, `"thread_name","args":{"name":"worker 0"}`,
		`"name":"task","cat":"realm","dur":0.950,"args":{"index":7}}`,
		`"name":"send eager","cat":"message","dur":0.050,"args":{"peer":1,"bytes":8}}`,
		`"name":"ready","cat":"golci","args":{"value":3}}`,
	} {
		if !bytes.Contains(out, []byte(text)) {
			t.Errorf("%s is not in\n%s", text, out)
		}
	}
}
