package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
)

// frame is the part of the plane that is drawn.
type frame struct {
	width, height int     // pixels
	x, y          float64 // the middle
	side          float64 // width in the plane
	most          int     // steps
}

// row computes one row: for each pixel the steps after which its point has left, or most.
func (f frame) row(row int, steps []int32) {
	pixel := f.side / float64(f.width)
	im := f.y - (float64(row)+0.5-float64(f.height)/2)*pixel
	for i := range steps {
		steps[i] = escape(f.x+(float64(i)+0.5-float64(f.width)/2)*pixel, im, f.most)
	}
}

// escape is how often z = z^2 + c keeps within 2 of 0, at most so many times.
func escape(re, im float64, most int) int32 {
	var x, y float64
	for n := range most {
		// The conversions forbid fused operations, so that all processors draw the same picture.
		xx, yy := float64(x*x), float64(y*y)
		if xx+yy > 4 {
			return int32(n)
		}
		x, y = xx-yy+re, float64(2*x*y)+im
	}
	return int32(most)
}

// inside is the share of the pixels that are in the set.
func inside(picture []int32, most int) float64 {
	n := 0
	for _, steps := range picture {
		if int(steps) == most {
			n++
		}
	}
	return float64(n) / float64(len(picture))
}

// compare tells the first pixel that is another one in a serial run.
func compare(f frame, picture []int32) error {
	row := make([]int32, f.width)
	for y := range f.height {
		f.row(y, row)
		for x, want := range row {
			if got := picture[y*f.width+x]; got != want {
				return fmt.Errorf("row %d, column %d: %d steps, want %d", y, x, got, want)
			}
		}
	}
	return nil
}

// save writes the picture as a PNG file.
func save(name string, f frame, picture []int32) error {
	out := image.NewRGBA(image.Rect(0, 0, f.width, f.height))
	for i, steps := range picture {
		out.SetRGBA(i%f.width, i/f.width, f.colour(steps))
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(file, out), file.Close())
}

// colour is black inside the set. Outside it goes round the circle of colours with the logarithm of the steps.
func (f frame) colour(steps int32) color.RGBA {
	if int(steps) == f.most {
		return color.RGBA{A: 255}
	}
	turn := math.Log1p(float64(steps))
	part := func(shift float64) uint8 { return uint8(128 + 127*math.Sin(turn+shift)) }
	return color.RGBA{R: part(0), G: part(2), B: part(4), A: 255}
}
