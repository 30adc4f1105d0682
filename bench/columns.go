package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
)

// widthOf finds the width in a format.
var widthOf = regexp.MustCompile(`%-?\d+`)

// Columns returns what writes rows of a benchmark's own to w: each as a JSON object in a line, or in columns. A field
// of R with the tag col:"heading|format" is a column. A third part of the tag is what a zero is printed as. above gives
// the text over the heading of a row; it may be nil. Both come again when that text differs from the row before.
func Columns[R any](w io.Writer, asJSON bool, above func(R) string) func(R) error {
	if asJSON {
		lines := json.NewEncoder(w)
		return func(r R) error { return lines.Encode(r) }
	}
	last, headed := "", false
	return func(r R) error {
		head, row := cells(reflect.ValueOf(r))
		text := ""
		if above != nil {
			text = above(r)
		}
		if !headed || text != last {
			row = text + head + row
		}
		last, headed = text, true
		_, err := io.WriteString(w, row)
		return err
	}
}

// cells are the heading and the columns of a row, each as a line.
func cells(row reflect.Value) (head, line string) {
	var heads, cells []string
	for _, f := range reflect.VisibleFields(row.Type()) {
		tag := strings.Split(f.Tag.Get("col"), "|")
		if len(tag) < 2 {
			continue
		}
		text := widthOf.FindString(tag[1]) + "s"
		heads = append(heads, fmt.Sprintf(text, tag[0]))
		if v := row.FieldByIndex(f.Index); len(tag) > 2 && v.IsZero() {
			cells = append(cells, fmt.Sprintf(text, tag[2]))
		} else {
			cells = append(cells, fmt.Sprintf(tag[1], v.Interface()))
		}
	}
	return strings.Join(heads, " ") + "\n", strings.Join(cells, " ") + "\n"
}

// Percent is a part of 1 that columns show as percents.
type Percent float64

// String writes p with two decimals.
func (p Percent) String() string { return fmt.Sprintf("%.2f", 100*float64(p)) }

// Digits is a number that columns show as Significant does.
type Digits float64

// String writes d with four significant digits.
func (d Digits) String() string { return Significant(float64(d)) }
