package main

import (
	"fmt"
	"strings"

	"github.com/golci/golci/internal/abi"
	"github.com/golci/golci/internal/observe/tool"
)

// controlTypes are the datatypes of control variables.
var controlTypes = map[tool.Type]string{
	tool.Int: "MPI_INT", tool.Word: "MPI_INT", tool.Bytes: "MPI_COUNT", tool.Seconds: "MPI_DOUBLE", tool.Text: "MPI_CHAR",
}

// toolTables is the C text with the variables and categories of the interface for tools.
func toolTables() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n", abi.Generated)
	controlTables(&b)
	counterTables(&b)
	categoryTables(&b)
	return []byte(b.String())
}

func controlTables(b *strings.Builder) {
	all := tool.Controls()
	for i := range all {
		if words := all[i].Words; words != nil {
			fmt.Fprintf(b, "\nstatic const char *const words_%d[] = {", i)
			for _, w := range words {
				fmt.Fprintf(b, "%q, ", w)
			}
			b.WriteString("NULL};\n")
		}
	}
	b.WriteString("\nstatic const struct control controls[] = {\n")
	for i := range all {
		c, words := &all[i], "NULL"
		if c.Words != nil {
			words = fmt.Sprintf("words_%d", i)
		}
		fmt.Fprintf(b, "    {%q,\n     %q,\n     %#x, %s, %s, %d},\n", c.Name, c.Doc, int(c.Verbosity), controlTypes[c.Type],
			words, int(c.Scope()))
	}
	b.WriteString("};\n")
}

func counterTables(b *strings.Builder) {
	b.WriteString("\nstatic const struct counter counters[] = {\n")
	for _, c := range tool.Counters() {
		fmt.Fprintf(b, "    {%q,\n     %q,\n     %#x, %d},\n", c.Name, c.Doc, int(c.Verbosity), int(c.Class))
	}
	b.WriteString("};\n")
}

func categoryTables(b *strings.Builder) {
	all := tool.Categories()
	for i := range all {
		places(b, fmt.Sprintf("controls_of_%d", i), all[i].Controls())
		places(b, fmt.Sprintf("counters_of_%d", i), all[i].Counters())
	}
	b.WriteString("\nstatic const struct category categories[] = {\n")
	for i := range all {
		c := &all[i]
		fmt.Fprintf(b, "    {%q, %q,\n     controls_of_%d, %d, counters_of_%d, %d},\n", c.Name, c.Doc,
			i, len(c.Controls()), i, len(c.Counters()))
	}
	b.WriteString("};\n")
}

// places writes an array of places. One more stands at its end, since C has no empty arrays.
func places[T ~int](b *strings.Builder, name string, list []T) {
	fmt.Fprintf(b, "\nstatic const int %s[] = {", name)
	for _, n := range list {
		fmt.Fprintf(b, "%d, ", int(n))
	}
	b.WriteString("-1};\n")
}
