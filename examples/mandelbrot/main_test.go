package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var whole = frame{width: 60, height: 41, x: -0.7, side: 3, most: 200}

// TestPicture: any number of workers draws what a serial run does, also more of them than rows.
func TestPicture(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, height := range []int{1, 3, 41} {
			o := options{frame: whole, check: true}
			o.height = height
			var out bytes.Buffer // rank 0 alone writes to it
			if err := mpi.Run(n, func(c *mpi.Comm) error { return mandelbrot(c, o, &out) }); err != nil {
				t.Fatalf("%d ranks, %d rows: %v", n, height, err)
			}
			if got := out.String(); !strings.HasSuffix(got, "check: equal to a serial run\n") {
				t.Errorf("%d ranks, %d rows: printed\n%s", n, height, got)
			}
		}
	}
}

// TestDealt: each row is dealt once, and each worker has one where there are enough.
func TestDealt(t *testing.T) {
	err := mpi.Run(4, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			return work(c, whole)
		}
		_, dealt, err := master(c, whole)
		sum := 0
		for to, n := range dealt {
			if sum += n; (n == 0) != (to == 0) {
				t.Errorf("rank %d computed %d rows", to, n)
			}
		}
		if sum != whole.height {
			t.Errorf("%v rows, want %d in all", dealt, whole.height)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestEscape: points of which one knows when they leave.
func TestEscape(t *testing.T) {
	for c, want := range map[complex128]int32{0: 50, -1: 50, -2: 50, 0.25: 50, 1: 3, 2: 2, 3: 1, 1i: 50, 2i: 2} {
		if got := escape(real(c), imag(c), 50); got != want {
			t.Errorf("%v stays for %d steps, want %d", c, got, want)
		}
	}
}

// TestCompare: a pixel that differs is named.
func TestCompare(t *testing.T) {
	picture := make([]int32, whole.width*whole.height)
	for y := range whole.height {
		whole.row(y, picture[y*whole.width:(y+1)*whole.width])
	}
	if err := compare(whole, picture); err != nil {
		t.Error(err)
	}
	picture[7*whole.width+9]++
	if err := compare(whole, picture); err == nil || !strings.Contains(err.Error(), "row 7, column 9") {
		t.Errorf("got %v", err)
	}
}

// TestSave: the file has the picture: the set is black, and symmetric to the real axis.
func TestSave(t *testing.T) {
	o := options{frame: whole, file: filepath.Join(t.TempDir(), "set.png")}
	if err := mpi.Run(2, func(c *mpi.Comm) error { return mandelbrot(c, o, new(bytes.Buffer)) }); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(o.file)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	middle := whole.height / 2
	if r, g, b, _ := picture.At(44, middle).RGBA(); r|g|b != 0 { // it is 0
		t.Errorf("the point 0 is %d %d %d", r, g, b)
	}
	for x := range whole.width {
		if above, below := picture.At(x, middle-5), picture.At(x, middle+5); above != below {
			t.Errorf("column %d: %v above and %v below", x, above, below)
		}
	}
	o.file = filepath.Join(t.TempDir(), "none", "set.png")
	if err := mpi.Run(1, func(c *mpi.Comm) error { return mandelbrot(c, o, new(bytes.Buffer)) }); err == nil {
		t.Error("a picture that cannot be written is no error")
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-width 0", "-height 0", "-steps 0", "-side 0", "word"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if o, err := parse([]string{"-width", "9"}); err != nil || o.width != 9 || o.height != 600 || !o.check {
		t.Errorf("%+v, %v", o, err)
	}
}
