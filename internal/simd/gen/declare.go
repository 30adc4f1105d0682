package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// declarations writes the Go side of a form: the declarations of its kernels, and their table.
func declarations(form string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n//go:build !purego\n\npackage simd\n\nimport \"reflect\"\n", header)
	declare(&b, form)
	table(&b, form)
	return format.Source(b.Bytes())
}

func declare(b *bytes.Buffer, form string) {
	for _, e := range elements {
		for _, op := range operations {
			if has(form, op, e) {
				fmt.Fprintf(b, "\n//go:noescape\nfunc %s(dst, a, b *byte, n int)\n", kernelName(form, op, e))
			}
		}
	}
}

func table(b *bytes.Buffer, form string) {
	fmt.Fprintf(b, "\nvar kernels%s = kernels{\n", form)
	for _, op := range operations {
		fmt.Fprintf(b, "\top%s: {\n", strings.ToUpper(op[:1])+op[1:])
		for _, e := range elements {
			if !has(form, op, e) {
				continue
			}
			f := kernelName(form, op, e)
			fmt.Fprintf(b, "\t\treflect.%s: %s,\n", e.name, f)
			if e.name == "Int64" {
				fmt.Fprintf(b, "\t\treflect.Int: %s,\n", f)
			}
			if u := unsigned[e.name]; u != "" && (op == "sum" || op == "prod") {
				fmt.Fprintf(b, "\t\treflect.%s: %s,\n", u, f)
				if u == "Uint64" {
					fmt.Fprintf(b, "\t\treflect.Uint: %[1]s,\n\t\treflect.Uintptr: %[1]s,\n", f)
				}
			}
		}
		fmt.Fprintf(b, "\t},\n")
	}
	fmt.Fprintf(b, "}\n")
}
