package job

import (
	"os"
	"path/filepath"
	"strconv"
)

// running lists the processes that execute the file at path. The caller has made that file, so no one else's do.
func running(path string) []int {
	if path == "" {
		return nil
	}
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return nil
	}
	var pids []int
	for _, link := range links {
		if exe, err := os.Readlink(link); err != nil || exe != path {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
