package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// declarations writes the Go side: the kernels that all forms have, and their table.
func declarations() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n//go:build !purego && (amd64 || arm64)\n\npackage simd\n\nimport \"reflect\"\n", header)
	for _, e := range elements {
		for _, op := range operations {
			if everywhere(op, e) {
				fmt.Fprintf(&b, "\n//go:noescape\nfunc %s(dst, a, b *byte, n int)\n", op+e.name)
			}
		}
	}
	table(&b)
	return format.Source(b.Bytes())
}

func table(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nvar vectors = kernels{\n")
	for _, op := range operations {
		fmt.Fprintf(b, "\top%s: {\n", strings.ToUpper(op[:1])+op[1:])
		for _, e := range elements {
			if !everywhere(op, e) {
				continue
			}
			for _, kind := range e.kinds {
				fmt.Fprintf(b, "\t\treflect.%s: %s,\n", kind, op+e.name)
			}
			for _, kind := range e.unsigned {
				if op == "sum" || op == "prod" {
					fmt.Fprintf(b, "\t\treflect.%s: %s,\n", kind, op+e.name)
				}
			}
		}
		fmt.Fprintf(b, "\t},\n")
	}
	fmt.Fprintf(b, "}\n")
}
