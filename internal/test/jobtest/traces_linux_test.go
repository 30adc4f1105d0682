package jobtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// traces is what a running job has that must be gone when it has ended.
type traces struct {
	pids    []int             // launcher, guard, ranks
	memory  map[uint64]string // memfds by inode
	sockets map[string]bool   // Unix sockets by inode
	files   map[string]bool   // under /dev/shm and the directory for temporary files
	tmp     string
}

// observe looks at the job of a launcher while it runs.
func observe(launcher int, tmp string) traces {
	x := traces{
		pids: descendants(launcher), memory: make(map[uint64]string), sockets: make(map[string]bool),
		files: make(map[string]bool), tmp: tmp,
	}
	unix := unixSockets()
	for _, pid := range x.pids {
		for _, m := range memoryOf(pid) {
			x.memory[m.inode] = m.name
		}
		for _, link := range links(pid) {
			x.note(link, unix)
		}
	}
	return x
}

func (x *traces) note(link string, unix map[string]bool) {
	if inode, ok := strings.CutPrefix(link, "socket:["); ok {
		inode = strings.TrimSuffix(inode, "]")
		if unix[inode] {
			x.sockets[inode] = true
		}
	}
	if strings.HasPrefix(link, "/dev/shm/") || strings.HasPrefix(link, x.tmp) {
		x.files[strings.TrimSuffix(link, " (deleted)")] = true
	}
}

// left lists what is still there.
func (x traces) left() (out []string) {
	for _, pid := range x.pids {
		if alive(pid) {
			out = append(out, fmt.Sprintf("process %d", pid))
		}
	}
	for _, pid := range processes() {
		for _, m := range memoryOf(pid) {
			if name, ours := x.memory[m.inode]; ours {
				out = append(out, fmt.Sprintf("%s in process %d", name, pid))
			}
		}
	}
	for inode := range unixSockets() {
		if x.sockets[inode] {
			out = append(out, "socket "+inode)
		}
	}
	for name := range x.files {
		if _, err := os.Lstat(name); err == nil {
			out = append(out, name)
		}
	}
	rest, _ := filepath.Glob(filepath.Join(x.tmp, "*"))
	return append(out, rest...)
}

// memfd is a segment that a process has mapped or open.
type memfd struct {
	inode uint64
	name  string
}

const memfdName = "/memfd:"

// memoryOf finds the memfds of a process, none when it is gone.
func memoryOf(pid int) (out []memfd) {
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) >= 6 && strings.HasPrefix(f[5], memfdName) {
			inode, _ := strconv.ParseUint(f[4], 10, 64)
			out = append(out, memfd{inode, f[5]})
		}
	}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		name, _ := os.Readlink(fd)
		if !strings.HasPrefix(name, memfdName) {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat(fd, &st) == nil {
			out = append(out, memfd{st.Ino, name})
		}
	}
	return out
}

// links is where the descriptors of a process lead.
func links(pid int) (out []string) {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if name, err := os.Readlink(fd); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// unixSockets are the inodes of all Unix sockets, abstract ones included.
func unixSockets() map[string]bool {
	out := make(map[string]bool)
	table, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) >= 7 {
			out[f[6]] = true
		}
	}
	return out
}

// processes lists all that run.
func processes() (out []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// descendants are pid, its children, theirs, and so on.
func descendants(pid int) []int {
	out := []int{pid}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, child := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(child); err == nil {
				out = append(out, descendants(n)...)
			}
		}
	}
	return out
}

// stat is the fields of /proc/PID/stat after the name, of which the first is the state; nil when there is no such
// process.
func stat(pid int) []string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, tail, _ := strings.Cut(string(b), ") ")
	return strings.Fields(tail)
}

// alive says whether the process runs: it is there and no zombie, which only its parent can take away.
func alive(pid int) bool {
	f := stat(pid)
	return len(f) > 0 && f[0] != "Z" && f[0] != "X"
}

// processorTime is what a process has used, user and system. The scheduler's own account of each thread counts
// nanoseconds; that of the process may count clock ticks that happen to hit it.
func processorTime(pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		ran, _, _ := strings.Cut(string(b), " ")
		ns, _ := strconv.ParseInt(ran, 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}

// ticks is the same by the account of the process, in hundredths of a second.
func ticks(pid int) int {
	f := stat(pid)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return user + system
}
