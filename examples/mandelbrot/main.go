// Mandelbrot draws a picture of the Mandelbrot set. Rank 0 is the master: it deals the picture's rows out to the other
// ranks, one at a time, since some take much longer than others. A rank alone draws all rows itself.
//
//	mandelbrot -o picture.png
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	rank.Main(parse, func(c *mpi.Comm, o options) error { return mandelbrot(c, o, os.Stdout) })
}

type options struct {
	frame
	file  string // for the picture
	check bool   // compare with a serial run
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("mandelbrot", flag.ContinueOnError)
	f.IntVar(&o.width, "width", 900, "of the picture, in pixels")
	f.IntVar(&o.height, "height", 600, "of the picture, in pixels")
	f.Float64Var(&o.x, "x", -0.7, "real part of the middle")
	f.Float64Var(&o.y, "y", 0, "imaginary part of the middle")
	f.Float64Var(&o.side, "side", 3, "width of the picture in the plane")
	f.IntVar(&o.most, "steps", 1000, "steps after which a point counts as in the set")
	f.StringVar(&o.file, "o", "", "PNG file for the picture")
	f.BoolVar(&o.check, "check", true, "compare with a serial run")
	if err := rank.Parse(f, "mandelbrot [flags]: a picture of the Mandelbrot set", args, 0); err != nil {
		return o, err
	}
	if o.side <= 0 {
		return o, fmt.Errorf("-side %g: want more than 0", o.side)
	}
	return o, cmp.Or(rank.AtLeast("width", o.width, 1), rank.AtLeast("height", o.height, 1),
		rank.AtLeast("steps", o.most, 1))
}

// mandelbrot is one rank's part. Rank 0 prints to w.
func mandelbrot(c *mpi.Comm, o options, w io.Writer) error {
	if c.Rank() != 0 {
		return work(c, o.frame)
	}
	picture, dealt, err := master(c, o.frame)
	if err != nil {
		return err
	}
	if o.file != "" {
		if err := save(o.file, o.frame, picture); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "picture: %d x %d pixels, %d ranks\n", o.width, o.height, c.Size())
	fmt.Fprintf(w, "rows of each rank: %d\n", dealt)
	fmt.Fprintf(w, "in the set: %.3f %% of the pixels\n", 100*inside(picture, o.most))
	if !o.check {
		return nil
	}
	if err := compare(o.frame, picture); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "check: equal to a serial run")
	return err
}
