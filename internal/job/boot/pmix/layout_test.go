//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// facts are what this package relies on, by what C calls them. Strings are in quotes.
func facts() map[string]string {
	var (
		p proc
		v value
		i info
	)
	out := map[string]string{
		"PMIX_JOB_SIZE": keyJobSize, "PMIX_LOCAL_PEERS": keyPeers, "PMIX_COLLECT_DATA": keyCollect,
		"PMIX_IMMEDIATE": keyImmediate,
	}
	for name, n := range map[string]int64{
		"sizeof(pmix_proc_t)": int64(unsafe.Sizeof(p)), "sizeof(pmix_value_t)": int64(unsafe.Sizeof(v)),
		"sizeof(pmix_info_t)": int64(unsafe.Sizeof(i)), "sizeof(pmix_status_t)": 4, "sizeof(pmix_scope_t)": 1,
		"offsetof(pmix_proc_t, rank)":           int64(unsafe.Offsetof(p.rank)),
		"offsetof(pmix_value_t, type)":          int64(unsafe.Offsetof(v.kind)),
		"sizeof(((pmix_value_t*)0)->type)":      int64(unsafe.Sizeof(v.kind)),
		"offsetof(pmix_value_t, data.string)":   int64(unsafe.Offsetof(v.data)),
		"offsetof(pmix_value_t, data.flag)":     int64(unsafe.Offsetof(v.data)),
		"offsetof(pmix_value_t, data.uint32)":   int64(unsafe.Offsetof(v.data)),
		"offsetof(pmix_value_t, data.bo.bytes)": int64(unsafe.Offsetof(v.data)),
		"offsetof(pmix_value_t, data.bo.size)":  int64(unsafe.Offsetof(v.size)),
		"offsetof(pmix_info_t, flags)":          int64(unsafe.Offsetof(i.flags)),
		"offsetof(pmix_info_t, value)":          int64(unsafe.Offsetof(i.value)),
		"PMIX_MAX_KEYLEN":                       maxKey,
		"PMIX_MAX_NSLEN":                        maxNamespace,
		"(pmix_rank_t)(PMIX_RANK_WILDCARD)":     rankWildcard,
		"PMIX_GLOBAL":                           scopeGlobal,
		"PMIX_BOOL":                             typeBool,
		"PMIX_STRING":                           typeString,
		"PMIX_UINT32":                           typeUint32,
		"PMIX_BYTE_OBJECT":                      typeByteObject,
		"PMIX_SUCCESS":                          statusSuccess,
		"PMIX_ERR_UNREACH":                      statusUnreach,
		"PMIX_ERR_COMM_FAILURE":                 statusComm,
		"PMIX_ERR_NOT_FOUND":                    statusNotFound,
		"PMIX_ERR_LOST_CONNECTION":              statusConnected,
	} {
		out[name] = fmt.Sprint(n)
	}
	return out
}

// TestLayout asks the C compiler for every fact.
func TestLayout(t *testing.T) {
	const folder = "/usr/lib/*/pmix2/include"
	var include []string
	found, _ := filepath.Glob(folder)
	for _, f := range found {
		include = append(include, "-I"+f)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	var source strings.Builder
	source.WriteString("#include <pmix.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n")
	names := facts()
	for name, want := range names {
		if strings.HasPrefix(want, "pmix.") {
			fmt.Fprintf(&source, "printf(\"%%s\\t%%s\\n\", %q, %s);\n", name, name)
		} else {
			fmt.Fprintf(&source, "printf(\"%%s\\t%%lld\\n\", %q, (long long)(%s));\n", name, name)
		}
	}
	source.WriteString("return 0;\n}\n")
	dir := t.TempDir()
	file, program := filepath.Join(dir, "facts.c"), filepath.Join(dir, "facts")
	if err := os.WriteFile(file, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	probe := exec.Command(cc, slices.Concat(include, []string{"-E", "-include", "pmix.h", "-x", "c", "/dev/null"})...)
	if probe.Run() != nil {
		t.Skip("no pmix.h (Debian: libpmix-dev)")
	}
	if out, err := exec.Command(cc, append(include, "-o", program, file)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(names) {
		t.Errorf("%d facts, want %d", len(lines), len(names))
	}
	for _, line := range lines {
		name, is, _ := strings.Cut(line, "\t")
		if names[name] != is {
			t.Errorf("%s is %s, this package has %s", name, is, names[name])
		}
	}
}
