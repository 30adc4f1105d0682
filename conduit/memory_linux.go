package conduit

import (
	"cmp"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// grantLimit reads the limits on what this process may have, and returns the smallest.
func grantLimit() limit {
	all := []limit{{"address space of the machine", 1 << 46}, machineLimit(), groupLimit(), spaceLimit()}
	return slices.MinFunc(all, func(a, b limit) int { return cmp.Compare(a.bytes, b.bytes) })
}

func machineLimit() limit {
	l := limit{"memory and swap of the machine", math.MaxInt64}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		l.bytes = int64((uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit))
	}
	return l
}

// groupLimit looks for the limit of the control group and of those that it lies in.
func groupLimit() limit {
	l := limit{"memory of the control group", math.MaxInt64}
	text, _ := os.ReadFile("/proc/self/cgroup") // without it there is no group to ask
	for line := range strings.Lines(string(text)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ok && group != "" {
			max, _ := os.ReadFile(path.Join("/sys/fs/cgroup", group, "memory.max"))
			if n, err := strconv.ParseInt(strings.TrimSpace(string(max)), 10, 64); err == nil {
				l.bytes = min(l.bytes, n)
			}
			if group == "/" {
				break
			}
			group = path.Dir(group)
		}
	}
	return l
}

// spaceLimit is what is left of the address space that the process may have.
func spaceLimit() limit {
	l := limit{"address space of the process (ulimit -v)", math.MaxInt64}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || r.Cur >= math.MaxInt64 {
		return l
	}
	l.bytes = int64(r.Cur)
	text, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); len(fields) > 0 {
		pages, _ := strconv.ParseInt(fields[0], 10, 64)
		l.bytes = max(0, l.bytes-pages*int64(os.Getpagesize()))
	}
	return l
}
