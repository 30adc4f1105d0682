package file_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/file"
)

// Two ranks write their rows of a matrix in turn. Then rank 0 reads the file.
func ExampleFile_SetView() {
	dir, err := os.MkdirTemp("", "golci")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	err = mpi.Run(2, func(c *mpi.Comm) error {
		f, err := file.Open[float64](c, filepath.Join(dir, "matrix"), file.ReadWrite|file.Create)
		if err != nil {
			return err
		}
		row := []float64{float64(c.Rank()), 10}
		err = f.SetView(int64(2*c.Rank()), file.Blocks(2, 4))
		for range 2 {
			_, wrote := f.WriteAll(row)
			err = errors.Join(err, wrote)
		}
		all := make([]float64, 8)
		err = errors.Join(err, f.SetView(0, file.View{}))
		if c.Rank() == 0 {
			_, read := f.ReadAt(all, 0)
			err = errors.Join(err, read)
			fmt.Println(all)
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		log.Print(err)
	}
	// Output: [0 10 1 10 0 10 1 10]
}
