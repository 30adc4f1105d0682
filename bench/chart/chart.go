// Package chart draws benchmark rows as curves: one panel a benchmark, one line an implementation, logarithmic axes.
package chart

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg" // png
	_ "gonum.org/v1/plot/vg/vgpdf" // pdf
	_ "gonum.org/v1/plot/vg/vgsvg" // svg

	"github.com/golci/golci/bench"
)

const (
	width  = 18 * vg.Centimeter
	height = 11 * vg.Centimeter // of one panel
	margin = 4 * vg.Millimeter  // round a panel, and between its frame and the legend
)

// ErrEmpty says that no row can be drawn: a logarithmic axis has no place for 0.
var ErrEmpty = errors.New("chart: no row with a value above 0")

// ErrFormat says that a file's name ends in no form of picture that is known.
var ErrFormat = errors.New("chart: a figure ends in .svg, .png or .pdf")

var formats = []string{"svg", "png", "pdf"}

func format(path string) (string, error) {
	f := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if !slices.Contains(formats, f) {
		return "", fmt.Errorf("%w, not %s", ErrFormat, path)
	}
	return f, nil
}

// Check reports in advance whether Write can write to path: the name ends in a known form, and the directory is
// writable. Errors: ErrFormat, and those of the file system.
func Check(path string) error {
	if _, err := format(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".golci-figure-")
	if err != nil {
		return fmt.Errorf("chart: %s cannot be written: %w", path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// Write draws rows into a file at path, which it replaces; the end of its name says in which form. subtitle stands
// above the first panel: machine, date and what else the values depend on. Errors: ErrFormat, ErrEmpty, and those of
// the file system.
func Write(path, subtitle string, rows []bench.Row) error {
	form, err := format(path)
	if err != nil {
		return err
	}
	panels, err := panels(rows)
	if err != nil {
		return err
	}
	panels[0].Title.Text += "\n" + subtitle
	canvas, err := draw.NewFormattedCanvas(width, height*vg.Length(len(panels)), form)
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	page := draw.New(canvas)
	for i, p := range panels {
		top := page.Max.Y - height*vg.Length(i)
		p.Draw(draw.Canvas{Canvas: page.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: page.Min.X + margin, Y: top - height + margin},
			Max: vg.Point{X: page.Max.X - margin, Y: top - margin},
		}})
	}
	return save(path, canvas)
}

// Undrawn describes the rows that have no place in a figure, because a logarithmic axis has none for their value.
func Undrawn(rows []bench.Row) (texts []string) {
	for _, r := range bench.Only(rows, func(r bench.Row) bool { return r.Value <= 0 }) {
		texts = append(texts, fmt.Sprintf("%s of %s with %d bytes and %d threads: %g %s",
			r.Bench, r.Impl, r.Size, r.Threads, r.Value, r.Unit))
	}
	return texts
}

func save(path string, canvas vg.CanvasWriterTo) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	_, err = canvas.WriteTo(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("chart: %s: %w", path, err)
	}
	return nil
}

func panels(rows []bench.Row) (out []*plot.Plot, _ error) {
	rows = bench.Only(rows, func(r bench.Row) bool { return r.Value > 0 })
	if len(rows) == 0 {
		return nil, ErrEmpty
	}
	for _, name := range bench.Distinct(rows, func(r bench.Row) string { return r.Bench }) {
		p, err := panel(name, bench.Only(rows, func(r bench.Row) bool { return r.Bench == name }))
		if err != nil {
			return nil, fmt.Errorf("chart: %s: %w", name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func panel(name string, rows []bench.Row) (*plot.Plot, error) {
	x, label := axis(rows)
	p := plot.New()
	p.Title.Text = name
	p.X.Label.Text = label
	p.Y.Label.Text = rows[0].Unit
	p.BackgroundColor = color.White
	p.Legend.Top = true
	p.Legend.Left = !rows[0].LargerIsBetter()
	p.Legend.XOffs, p.Legend.YOffs = -margin, -margin/2
	if p.Legend.Left {
		p.Legend.XOffs = margin
	}
	logarithmic(&p.X, rows, x, binary{})
	logarithmic(&p.Y, rows, func(r bench.Row) float64 { return r.Value }, decimal{})
	p.Add(plotter.NewGrid())
	for i, impl := range bench.Distinct(rows, func(r bench.Row) string { return r.Impl }) {
		if err := curve(p, i, impl, rows, x); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// axis chooses what varies. Size 0 is drawn at 1, since a logarithmic axis has no 0.
func axis(rows []bench.Row) (func(bench.Row) float64, string) {
	threads := func(r bench.Row) float64 { return float64(r.Threads) }
	size := func(r bench.Row) float64 { return float64(max(1, r.Size)) }
	for _, r := range rows {
		if r.Threads != rows[0].Threads {
			return threads, cmp.Or(r.Axis, "threads in each process")
		}
	}
	return size, "bytes"
}

// logarithmic keeps some room around the data: a scale of one value only has no length.
func logarithmic(a *plot.Axis, rows []bench.Row, of func(bench.Row) float64, ticks plot.Ticker) {
	values := bench.Distinct(rows, of)
	a.Scale = plot.LogScale{}
	a.Tick.Marker = ticks
	a.Min, a.Max = slices.Min(values)/1.5, slices.Max(values)*1.5
}

func curve(p *plot.Plot, i int, impl string, rows []bench.Row, x func(bench.Row) float64) error {
	var points plotter.XYs
	for _, r := range bench.Only(rows, func(r bench.Row) bool { return r.Impl == impl }) {
		points = append(points, plotter.XY{X: x(r), Y: r.Value})
	}
	slices.SortStableFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
	marks.Color, marks.Shape = plotutil.Color(i), plotutil.Shape(i)
	p.Add(line, marks)
	p.Legend.Add(impl, line, marks)
	return nil
}
