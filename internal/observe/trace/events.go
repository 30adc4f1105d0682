package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// events writes the events of a timeline, one a line.
type events struct {
	w     *bufio.Writer // keeps the first error
	line  []byte        // being made
	some  bool          // an event has been written
	spans uint64        // numbers them
}

func (o *events) beginFile(all []Summary) error {
	b, err := json.Marshal(otherData{all})
	if err != nil {
		return err
	}
	o.line = append(append(append(o.line, beginning...), b...), ",\"traceEvents\":["...)
	_, err = o.w.Write(o.line)
	return err
}

func (o *events) endFile() error {
	_, _ = o.w.WriteString("\n]}\n") // Flush tells
	return o.w.Flush()
}

// openEvent begins the line of an event.
func (o *events) openEvent(phase string, rank int, lane uint32) {
	o.line = append(o.line[:0], ",\n"...)
	if !o.some {
		o.some, o.line = true, append(o.line[:0], '\n')
	}
	o.line = append(append(o.line, `{"ph":"`...), phase...)
	o.line = strconv.AppendInt(append(o.line, `","pid":`...), int64(rank), 10)
	o.line = strconv.AppendUint(append(o.line, `,"tid":`...), uint64(lane)+1, 10)
}

// addField adds a field whose value is JSON.
func (o *events) addField(name string, value []byte) {
	o.line = append(append(append(o.line, `,"`...), name...), `":`...)
	o.line = append(o.line, value...)
}

// addTime adds a field of nanoseconds, which the format has in microseconds.
func (o *events) addTime(name string, ns int64) {
	o.addField(name, nil)
	n := uint64(ns)
	if ns < 0 {
		o.line, n = append(o.line, '-'), -n // also of the least number, which has no counterpart
	}
	o.line = strconv.AppendUint(o.line, n/1000, 10)
	if n %= 1000; n > 0 {
		o.line = append(o.line, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
	}
}

// addNumber adds a field of a number that may be too large for a number of JSON.
func (o *events) addNumber(name string, v uint64) {
	o.addField(name, []byte(`"0x`))
	o.line = append(strconv.AppendUint(o.line, v, 16), '"')
}

func (o *events) shutEvent() error {
	o.line = append(o.line, '}')
	_, err := o.w.Write(o.line)
	return err
}

// addTitle gives a process or a thread its name and its place among the others.
func (o *events) addTitle(of string, rank int, lane uint32, name string, place int) {
	quoted, _ := json.Marshal(name) // which cannot fail
	o.describeTrack(of+`_name`, rank, lane, `{"name":`+string(quoted)+`}`)
	o.describeTrack(of+`_sort_index`, rank, lane, fmt.Sprintf(`{"sort_index":%d}`, place))
}

func (o *events) describeTrack(what string, rank int, lane uint32, args string) {
	o.openEvent("M", rank, lane)
	o.addField("name", []byte(`"`+what+`"`))
	o.addField("args", []byte(args))
	_ = o.shutEvent() // the last event tells
}

// writing is a part on its way to the timeline.
type writing struct {
	*events
	rank   int
	labels map[Name]labelText
	time   func(uint64) int64 // since time 0
	last   int64              // the latest time so far
}

// labelText is a label as JSON.
type labelText struct {
	text, category []byte
	args           [3][]byte // with colons; empty for none
}

// writePart writes all of one rank.
func (o *events) writePart(t *timeline, p *part) error {
	at := t.timeOf(p)
	w := &writing{
		events: o, rank: p.Rank, labels: p.labelTexts(), time: func(now uint64) int64 { return at(now) - t.zero },
	}
	o.addTitle("process", p.Rank, 0, fmt.Sprintf("rank %d (%s)", p.Rank, p.Host), p.Rank)
	for id := range uint32(len(p.tracks)) {
		o.addTitle("thread", p.Rank, id, p.tracks[id], int(id))
	}
	if err := p.eachBlock(w.writeRecords); err != nil {
		return err
	}
	s := p.summaryOf()
	if text := s.lacksRecords(); text != "" {
		return w.writeRemark(text)
	}
	return nil
}

// writeRemark is an event for the whole rank, at its last time.
func (w *writing) writeRemark(text string) error {
	b, err := json.Marshal(text)
	if err != nil {
		return err
	}
	w.openEvent("i", w.rank, 0)
	w.events.addTime("ts", w.last)
	w.addField("s", []byte(`"p"`))
	w.addField("name", b)
	return w.shutEvent()
}

// labelTexts are the labels of p. Number 0 is what a record without a label has.
func (p *part) labelTexts() map[Name]labelText {
	out := map[Name]labelText{}
	for n, l := range p.names {
		out[n] = l.json()
	}
	out[0] = Label{Text: "?"}.json()
	return out
}

func (l Label) json() (t labelText) {
	quoted := func(s string) []byte {
		b, _ := json.Marshal(s) // which cannot fail
		return b
	}
	t.text, t.category = quoted(l.Text), quoted(cmp.Or(l.Category, "golci"))
	for i, a := range l.Args {
		if a != "" {
			t.args[i] = append(quoted(a), ':')
		}
	}
	return t
}

// writeRecords writes the records of a block, those of an outer slice first.
func (w *writing) writeRecords(lane uint32, records []Record) error {
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	for i := range records {
		if err := w.writeRecord(lane, &records[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) writeRecord(lane uint32, e *Record) error {
	l, ok := w.labels[e.Name]
	if !ok {
		l = w.labels[0]
	}
	start := w.time(e.Start)
	w.last = max(w.last, start)
	var err error
	switch e.Kind &^ flows {
	case Slice:
		err = w.writeSlice(lane, e, &l, start)
	case Instant:
		w.beginEvent("i", lane, start, l.text, l.category)
		w.addField("s", []byte(`"t"`))
		err = w.writeArgs(e, &l)
	case Count:
		w.beginEvent("C", lane, start, l.text, l.category)
		w.addField("args", []byte(`{"value":`))
		w.line = append(strconv.AppendUint(w.line, e.A, 10), '}')
		err = w.shutEvent()
	case Span:
		err = w.writeSpan(lane, e, &l, start)
	}
	if err != nil || e.Kind&flows == 0 {
		return err
	}
	return w.writeFlow(lane, e, &l, start)
}

// beginEvent begins the line of an event that has a time.
func (w *writing) beginEvent(phase string, lane uint32, at int64, text, category []byte) {
	w.openEvent(phase, w.rank, lane)
	w.events.addTime("ts", at)
	w.addField("name", text)
	w.addField("cat", category)
}

// leastSlice is the length of a slice in nanoseconds that has none: viewers do not show arrows of slices without
// length. An arrow ends arrowLag after the beginning of its slice. On a coarse clock both of its ends may have one
// time, and a viewer takes them in the order of the file, which is that of the ranks.
const (
	leastSlice = 1
	arrowLag   = 1
)

// arrowLag is how long after the beginning of e its arrow has its end.
func (e *Record) arrowLag() int64 {
	if e.Kind&^flows == Slice && e.Kind&FlowIn != 0 {
		return arrowLag
	}
	return 0
}

func (w *writing) writeSlice(lane uint32, e *Record, l *labelText, start int64) error {
	end := max(w.time(e.End), start+leastSlice+e.arrowLag())
	w.last = max(w.last, end)
	w.beginEvent("X", lane, start, l.text, l.category)
	w.events.addTime("dur", end-start)
	return w.writeArgs(e, l)
}

func (w *writing) writeSpan(lane uint32, e *Record, l *labelText, start int64) error {
	w.spans++
	w.beginEvent("b", lane, start, l.text, l.category)
	w.addNumber("id", w.spanID())
	if err := w.writeArgs(e, l); err != nil {
		return err
	}
	end := max(w.time(e.End), start)
	w.last = max(w.last, end)
	w.beginEvent("e", lane, end, l.text, l.category)
	w.addNumber("id", w.spanID())
	return w.shutEvent()
}

const rankShift = 40 // of a rank in the number of a span

func (w *writing) spanID() uint64 { return uint64(w.rank)<<rankShift | w.spans }

func (w *writing) writeFlow(lane uint32, e *Record, l *labelText, at int64) error {
	phase := "s"
	if e.Kind&FlowIn != 0 {
		phase = "f"
	}
	w.beginEvent(phase, lane, at+e.arrowLag(), l.category, l.category)
	w.addNumber("id", e.Flow)
	if phase == "f" {
		w.addField("bp", []byte(`"e"`))
	}
	return w.shutEvent()
}

// writeArgs ends an event with the arguments of its record.
func (w *writing) writeArgs(e *Record, l *labelText) error {
	open := false
	for i, v := range [...]uint64{e.A, e.B, e.Flow} {
		if len(l.args[i]) == 0 {
			continue
		}
		if open {
			w.line = append(w.line, ',')
		} else {
			w.addField("args", []byte{'{'})
			open = true
		}
		w.line = strconv.AppendUint(append(w.line, l.args[i]...), v, 10)
	}
	if open {
		w.line = append(w.line, '}')
	}
	return w.shutEvent()
}

// copyFrom writes the events of a timeline that Write has made.
func (o *events) copyFrom(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	if _, err := skipToEvents(d); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for d.More() {
		var e json.RawMessage
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		o.line = append(o.line[:0], ",\n"...)
		if !o.some {
			o.some, o.line = true, append(o.line[:0], '\n')
		}
		if _, err := o.w.Write(append(o.line, e...)); err != nil {
			return err
		}
	}
	if err := skipToEnd(d); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
