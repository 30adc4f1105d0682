package main

import (
	"fmt"
	"strings"

	"github.com/golci/golci/internal/abi"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// toolTexts says what the classes of the interface for tools mean.
var toolTexts = map[string]string{
	"T_ERR_CANNOT_INIT":       "the interface cannot start now",
	"T_ERR_NOT_ACCESSIBLE":    "not accessible at this time",
	"T_ERR_NOT_INITIALIZED":   "the interface has not started",
	"T_ERR_NOT_SUPPORTED":     "not supported",
	"T_ERR_MEMORY":            "no memory",
	"T_ERR_INVALID":           "invalid argument",
	"T_ERR_INVALID_INDEX":     "invalid index",
	"T_ERR_INVALID_ITEM":      "invalid item of an enumeration",
	"T_ERR_INVALID_SESSION":   "invalid session",
	"T_ERR_INVALID_HANDLE":    "invalid handle",
	"T_ERR_INVALID_NAME":      "no such name",
	"T_ERR_OUT_OF_HANDLES":    "no more handles",
	"T_ERR_OUT_OF_SESSIONS":   "no more sessions",
	"T_ERR_CVAR_SET_NOT_NOW":  "the variable cannot be set now",
	"T_ERR_CVAR_SET_NEVER":    "the variable cannot be set",
	"T_ERR_PVAR_NO_WRITE":     "the variable cannot be written",
	"T_ERR_PVAR_NO_STARTSTOP": "the variable does not start and stop",
	"T_ERR_PVAR_NO_ATOMIC":    "the variable is not read and reset at once",
}

// errorTexts is the C text with what each class of errors means.
func errorTexts(t *abi.Table) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\nstatic const char *const class_texts[] = {\n", abi.Generated)
	for c := errs.Success; c.Name() != ""; c++ {
		fmt.Fprintf(&b, "    [%s] =\n        %q,\n", c.Name(), c.Name()+": "+c.Error())
	}
	fmt.Fprintf(&b, "};\n\nenum { first_extension = %d };\n\n", errs.ProcFailed)
	b.WriteString("static const char *const extension_texts[] = {\n")
	for c := errs.ProcFailed; c.Name() != ""; c++ {
		fmt.Fprintf(&b, "    [%s - first_extension] =\n        %q,\n", c.Name(), c.Name()+": "+c.Error())
	}
	b.WriteString("};\n\nenum { first_tool_class = MPI_T_ERR_CANNOT_INIT };\n\n")
	b.WriteString("static const char *const tool_texts[] = {\n")
	for _, s := range t.Sections {
		for _, c := range s.Constants {
			if text, ok := toolTexts[c.Name]; ok {
				fmt.Fprintf(&b, "    [MPI_%s - first_tool_class] =\n        %q,\n", c.Name, "MPI_"+c.Name+": "+text)
			}
		}
	}
	b.WriteString("};\n")
	return []byte(b.String())
}

// typeTable is the C text with the sizes of the predefined datatypes.
func typeTable() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\nenum { first_datatype = 0x200 };\n\n", abi.Generated)
	b.WriteString("static const struct type predefined[] = {\n")
	for _, basic := range dtype.Basics() {
		t := dtype.Named(basic)
		_, extent := t.Bounds()
		_, data := t.TrueBounds()
		first := int64(0)
		if t.Basics() == 2 {
			first, _ = t.BytesOf(1)
		}
		fmt.Fprintf(&b, "    [%#x] = {%d, %d, %d, %d}, /* %v */\n", int(basic)-0x200, t.Size(), extent, data, first, basic)
	}
	b.WriteString("};\n")
	return []byte(b.String())
}
