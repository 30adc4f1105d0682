package fult

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func osThread() int { return unix.Gettid() }

// inKernel tells whether an OS thread of this process, by its number, waits in the kernel. One that waits for a
// processor does not. It is false where the kernel does not tell.
func inKernel(tid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", tid))
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" ")) // the name may hold all bytes
	return len(after) > 0 && (after[0] == 'S' || after[0] == 'D')
}
