package hsl_test

import (
	"errors"
	"fmt"

	"github.com/golci/golci/am/hsl"
)

// A lock guards a table; taking it twice is an error, not a hang.
func Example() {
	locks := hsl.New(nil, hsl.Config{Mode: hsl.Checked})
	table := locks.New("table")
	if err := table.Lock(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(errors.Is(table.Lock(), hsl.ErrRecursive))
	if err := table.Unlock(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(locks.Close())
	// Output:
	// true
	// <nil>
}
