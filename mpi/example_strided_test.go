package mpi_test

import (
	"fmt"
	"log"

	"github.com/golci/golci/mpi"
)

// A column of a matrix becomes a row of another one.
func ExampleSendStrided() {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			matrix := []int{
				1, 2, 3,
				4, 5, 6,
			}
			return mpi.SendStrided(c, matrix[1:], mpi.Strided{Count: 2, Block: 1, Stride: 3}, 1, 0)
		}
		row := make([]int, 2)
		_, err := mpi.Recv(c, row, 0, 0)
		fmt.Println(row)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [2 5]
}
