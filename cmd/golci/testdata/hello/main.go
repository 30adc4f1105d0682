// Command hello is what the tests of golci run build: it prints its rank and arguments, and then waits if told to.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	fmt.Println("hello from", os.Getenv("PMI_RANK"), strings.Join(os.Args[1:], ","), os.Getpid())
	if len(os.Args) > 1 && os.Args[1] == "wait" {
		time.Sleep(time.Minute)
	}
}
