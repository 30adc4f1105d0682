package main

import (
	"fmt"
	"io"
	"math"
)

// shades are from cold to hot.
const shades = " .:-=+*#%@"

// draw prints the plate, a letter for each of at most 64 by 24 regions.
func draw(w io.Writer, plate []float64, n int) {
	rows, cols := min(n, 24), min(n, 64)
	for y := range rows {
		line := make([]byte, cols)
		for x := range line {
			heat := math.Sqrt(plate[y*n/rows*n+x*n/cols])
			line[x] = shades[min(int(heat*float64(len(shades))), len(shades)-1)]
		}
		fmt.Fprintf(w, "%s\n", line)
	}
}
