package topology

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/internal/observe/settings"
)

const cpuDir = "/sys/devices/system/cpu/cpu"

func readCPU(id int) CPU {
	dir := cpuDir + strconv.Itoa(id)
	c := CPU{ID: id, Package: readInt(dir + "/topology/physical_package_id"), Core: id}
	if _, err := os.Stat(dir + "/topology/core_id"); err == nil {
		c.Core = readInt(dir + "/topology/core_id")
	}
	if nodes, _ := filepath.Glob(dir + "/node[0-9]*"); len(nodes) > 0 {
		c.Node, _ = strconv.Atoi(strings.TrimPrefix(filepath.Base(nodes[0]), "node"))
	}
	last := -1
	for _, x := range cachesOf(id) {
		if x.level > last && len(x.shared) > 0 {
			last, c.LLC = x.level, x.shared[0]
		}
	}
	return c
}

// instancesOf is the instance of each of Resources that a CPU is of. Negative: not known.
func instancesOf(id int) []int {
	dir := cpuDir + strconv.Itoa(id)
	pkg, core, node := readNumber(dir+"/topology/physical_package_id"), readNumber(dir+"/topology/core_id"), -1
	if pkg >= 0 && core >= 0 {
		core += pkg << 32 // unique only within its package
	}
	if nodes, _ := filepath.Glob(dir + "/node[0-9]*"); len(nodes) > 0 {
		node, _ = strconv.Atoi(strings.TrimPrefix(filepath.Base(nodes[0]), "node"))
	}
	caches := [4]int{-1, -1, -1, -1} // by level; the lowest CPU stands for the instance
	for _, x := range cachesOf(id) {
		if x.kind != "Instruction" && x.level < len(caches) && len(x.shared) > 0 {
			caches[x.level] = x.shared[0]
		}
	}
	return []int{pkg, node, caches[3], caches[2], caches[1], core, id}
}

// cacheDir is a directory of /sys for one cache of one CPU.
type cacheDir struct {
	level  int
	kind   string
	bytes  int64
	line   int64
	shared []int // CPUs, ascending
}

func cachesOf(id int) []cacheDir {
	dirs, _ := filepath.Glob(cpuDir + strconv.Itoa(id) + "/cache/index[0-9]*")
	out := make([]cacheDir, 0, len(dirs))
	for _, d := range dirs {
		size, _ := settings.ParseSize(readText(d + "/size"))
		out = append(out, cacheDir{
			level: readInt(d + "/level"), kind: readText(d + "/type"), bytes: size,
			line: int64(readInt(d + "/coherency_line_size")), shared: ParseList(readText(d + "/shared_cpu_list")),
		})
	}
	return out
}

func readCaches(cpus []CPU) []Cache {
	type instance struct {
		level int
		kind  string
		first int
	}
	seen := map[instance]bool{}
	var out []Cache
	for _, c := range cpus {
		for _, x := range cachesOf(c.ID) {
			if len(x.shared) == 0 {
				continue
			}
			key := instance{x.level, x.kind, x.shared[0]}
			if seen[key] {
				continue
			}
			seen[key] = true
			i := slices.IndexFunc(out, func(o Cache) bool { return o.Level == x.level && o.Type == x.kind && o.Bytes == x.bytes })
			if i < 0 {
				i = len(out)
				out = append(out, Cache{Level: x.level, Type: x.kind, Bytes: x.bytes, Line: x.line, Shared: len(x.shared)})
			}
			out[i].Count++
		}
	}
	slices.SortFunc(out, func(a, b Cache) int { return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Type, b.Type)) })
	return out
}

func readText(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

func readInt(path string) int {
	n, _ := strconv.Atoi(readText(path))
	return n
}

// readNumber is negative where there is no such file.
func readNumber(path string) int {
	n, err := strconv.Atoi(readText(path))
	if err != nil {
		return -1
	}
	return n
}
