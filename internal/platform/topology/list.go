package topology

import (
	"strconv"
	"strings"
)

// maxCPU bounds a CPU number in a text, so that a damaged list cannot take all memory.
const maxCPU = 1 << 16

// ParseList reads a CPU set in the kernel's form, such as "0-3,8". It skips words that it does not understand.
func ParseList(s string) []int {
	var out []int
	for word := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		first, last, ranged := strings.Cut(word, "-")
		a, err := strconv.Atoi(first)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b < a || b >= maxCPU {
			continue
		}
		for i := a; i <= b; i++ {
			out = append(out, i)
		}
	}
	return out
}

// FormatList writes ascending CPU numbers in the kernel's form.
func FormatList(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}
