//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/abi"
)

// TestErrorsNameCalls calls each function on a communicator that is none. The text of the error names the function, and
// the argument that is wrong.
func TestErrorsNameCalls(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("#include <mpi.h>\n#include <stdio.h>\n#include <string.h>\nstatic int n;\n" +
		"static void see(const char *name, const char *arg, int class)\n{\n" +
		"char text[MPI_MAX_ERROR_STRING] = \"\"; int length;\nn++;\n" +
		"if (class != MPI_SUCCESS) MPI_Error_string(class, text, &length);\n" +
		"if (!strstr(text, name) || !strstr(text, arg)) printf(\"%s: class %d: %s\\n\", name, class, text);\n}\n" +
		"int main(void)\n{\nMPI_Init(NULL, NULL);\nMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);\n")
	n := 0
	for i := range table.Functions {
		f := &table.Functions[i]
		at := slices.IndexFunc(f.Args, func(a abi.Arg) bool { return a.Kind == "comm" && !a.Pointer && !a.Many })
		if at < 0 || f.Returns != "" || f.Name == "Abort" || strings.HasSuffix(f.Name, "_toint") {
			continue
		}
		args := strings.TrimSuffix(strings.Repeat("0, ", strings.Count(f.Params(false), ",")+1), ", ")
		fmt.Fprintf(&b, "see(\"; in MPI_%s\", \"%s (0) is no communicator\", MPI_%s(%s));\n", f.Name, f.Args[at].Name, f.Name, args)
		n++
	}
	b.WriteString("printf(\"%d calls\\n\", n);\nreturn MPI_Finalize();\n}\n")
	if out := run(t, b.String()); out != fmt.Sprintf("%d calls\n", n) {
		t.Error(out)
	}
}
