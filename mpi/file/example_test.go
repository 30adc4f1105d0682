package file_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/file"
)

// inFolder runs f on n ranks, which share the name of a file that is not there yet.
func inFolder(n int, f func(c *mpi.Comm, name string) error) {
	dir, err := os.MkdirTemp("", "golci")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := mpi.Run(n, func(c *mpi.Comm) error { return f(c, filepath.Join(dir, "data")) }); err != nil {
		log.Print(err)
	}
}

// Each rank writes at its own offset. After Sync and a barrier rank 0 reads what all have written.
func ExampleFile_WriteAt() {
	inFolder(3, func(c *mpi.Comm, name string) error {
		f, err := file.Open[int32](c, name, file.ReadWrite|file.Create)
		if err != nil {
			return err
		}
		part := []int32{int32(c.Rank()), int32(10 * c.Rank())}
		_, err = f.WriteAt(part, int64(len(part)*c.Rank()))
		err = errors.Join(err, f.Sync(), c.Barrier(), f.Sync())
		if c.Rank() == 0 {
			all := make([]int32, len(part)*c.Size())
			n, read := f.ReadAt(all, 0)
			err = errors.Join(err, read)
			fmt.Println(n, all)
		}
		return errors.Join(err, f.Close())
	})
	// Output: 6 [0 0 1 10 2 20]
}

// All ranks write together where the shared pointer is, in the order of their numbers. The pointer then stands behind
// what all have written, whatever the length of each part.
func ExampleFile_WriteOrdered() {
	inFolder(3, func(c *mpi.Comm, name string) error {
		f, err := file.Open[byte](c, name, file.ReadWrite|file.Create)
		if err != nil {
			return err
		}
		line := []byte(strings.Repeat("x", c.Rank()) + fmt.Sprintf(" from %d\n", c.Rank()))
		_, err = f.WriteOrdered(line)
		end, where := f.PositionShared()
		err = errors.Join(err, where, c.Barrier())
		if c.Rank() == 0 {
			text := make([]byte, end)
			_, read := f.ReadAt(text, 0)
			err = errors.Join(err, read)
			fmt.Printf("%s", text)
		}
		return errors.Join(err, f.Close())
	})
	// Output:
	//  from 0
	// x from 1
	// xx from 2
}

// Each rank writes where the shared pointer is when its turn comes. No two write to one place, but the order is open:
// here the numbers are sorted before they are printed.
func ExampleFile_WriteShared() {
	inFolder(4, func(c *mpi.Comm, name string) error {
		f, err := file.Open[int64](c, name, file.ReadWrite|file.Create)
		if err != nil {
			return err
		}
		_, err = f.WriteShared([]int64{int64(c.Rank())})
		err = errors.Join(err, c.Barrier())
		if c.Rank() == 0 {
			all := make([]int64, c.Size())
			_, read := f.ReadAt(all, 0)
			err = errors.Join(err, read)
			slices.Sort(all)
			fmt.Println(all)
		}
		return errors.Join(err, f.Close())
	})
	// Output: [0 1 2 3]
}

// Two ranks write their rows of a matrix in turn. Then rank 0 reads the file.
func ExampleFile_SetView() {
	inFolder(2, func(c *mpi.Comm, name string) error {
		f, err := file.Open[float64](c, name, file.ReadWrite|file.Create)
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
	// Output: [0 10 1 10 0 10 1 10]
}
