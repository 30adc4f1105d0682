package abi

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// cHeader is what a C header says, in a form that does not depend on how it says it.
type cHeader struct {
	constants map[string]string // by name: type and value
	functions map[string]string // by name: returned type and parameters
	types     map[string]string // by name: what it stands for
}

var (
	cComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cDefine   = regexp.MustCompile(`(?m)^#define\s+(\w+)[ \t]+(\S.*)$`)
	cEnum     = regexp.MustCompile(`(?s)(?:typedef\s+)?enum\s*(\w*)\s*\{(.*?)\}\s*(\w*);`)
	cStruct   = regexp.MustCompile(`(?s)typedef struct \{(.*?)\} (\w+);`)
	cTypedef  = regexp.MustCompile(`typedef ([^;{}]*);`)
	cFunction = regexp.MustCompile(`\b(\w+)\s*(\**)(P?MPI_\w+)\(([^()]*)\);`)
	cCallback = regexp.MustCompile(`^(\w+)\s*\((\w+)\)\s*\((.*)\)$`)
	cCast     = regexp.MustCompile(`^\(\(([^()]*)\)\s*(-?\w+)\)$`)
	cParam    = regexp.MustCompile(`^(.*?)(\w+)((?:\[\d*\])*)$`)
	cSpace    = regexp.MustCompile(`\s+`)
)

func readHeader(text string) (*cHeader, error) {
	text = cComment.ReplaceAllString(text, "")
	h := &cHeader{make(map[string]string), make(map[string]string), make(map[string]string)}
	values := make(map[string]string)
	for _, m := range cDefine.FindAllStringSubmatch(text, -1) {
		values[m[1]] = strings.TrimSpace(m[2])
	}
	for _, m := range cEnum.FindAllStringSubmatch(text, -1) {
		if m[3] != "" {
			h.types[m[3]] = "enum " + m[1]
		}
		for item := range strings.SplitSeq(m[2], ",") {
			name, value, _ := strings.Cut(item, "=")
			values[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	for name, value := range values {
		c, err := h.value(value, values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		h.constants[name] = c
	}
	for _, m := range cStruct.FindAllStringSubmatch(text, -1) {
		h.types[m[2]] = spaced(m[1])
	}
	h.readTypes(text)
	for _, m := range cFunction.FindAllStringSubmatch(text, -1) {
		h.functions[m[3]] = m[1] + m[2] + " (" + h.params(m[4]) + ")"
	}
	return h, nil
}

func (h *cHeader) readTypes(text string) {
	for _, m := range cTypedef.FindAllStringSubmatch(text, -1) {
		d := spaced(m[1])
		if f := cCallback.FindStringSubmatch(d); f != nil {
			h.types[f[2]] = "function " + f[1]
			continue
		}
		if i := strings.LastIndexAny(d, " *"); i >= 0 {
			h.types[d[i+1:]] = strings.ReplaceAll(d[:i+1], " ", "")
		}
	}
	for _, m := range cTypedef.FindAllStringSubmatch(text, -1) { // all names of types are known now
		if f := cCallback.FindStringSubmatch(spaced(m[1])); f != nil {
			h.types[f[2]] += " (" + h.params(f[3]) + ")"
		}
	}
}

// value is the type and the number of a constant; the name of another one stands for it.
func (h *cHeader) value(text string, all map[string]string) (string, error) {
	kind := "int"
	if other, ok := all[text]; ok {
		return h.value(other, all)
	}
	if m := cCast.FindStringSubmatch(text); m != nil {
		kind, text = strings.ReplaceAll(m[1], " ", ""), m[2]
	}
	n, err := strconv.ParseInt(text, 0, 64)
	return fmt.Sprintf("%s %d", kind, n), err
}

// params gives the parameters one way: arrays and functions are pointers.
func (h *cHeader) params(list string) string {
	var all []string
	for p := range strings.SplitSeq(spaced(list), ", ") {
		m := cParam.FindStringSubmatch(p)
		if m == nil || m[1] == "" { // void, or three points
			all = append(all, p)
			continue
		}
		t := strings.ReplaceAll(m[1], " *", "*")
		t = strings.TrimSpace(t)
		if dims := m[3]; dims != "" {
			t += "*" + dims[strings.IndexByte(dims, ']')+1:]
		}
		if strings.HasPrefix(h.types[t], "function") {
			t += "*"
		}
		if !strings.Contains(t, "*") {
			t = strings.TrimPrefix(t, "const ")
		}
		all = append(all, t+" "+m[2])
	}
	return strings.Join(all, ", ")
}

func spaced(text string) string { return strings.TrimSpace(cSpace.ReplaceAllString(text, " ")) }
