package suite

import "strings"

// Sources finds in a Makefile for automake of what file a program is made, and with which macros. A program that the
// Makefile does not describe is made of the file of its name.
func Sources(makefile, program string) (source string, defines []string) {
	source = program + ".c"
	makefile = strings.ReplaceAll(makefile, "\\\n", " ")
	for row := range strings.Lines(makefile) {
		name, value, ok := strings.Cut(row, "=")
		name, ok2 := strings.CutPrefix(strings.TrimSpace(strings.TrimSuffix(name, "+")), program+"_")
		if !ok || !ok2 {
			continue
		}
		for _, word := range strings.Fields(value) {
			switch {
			case name == "SOURCES" && strings.HasSuffix(word, ".c"):
				source = word
			case (name == "CPPFLAGS" || name == "CFLAGS") && strings.HasPrefix(word, "-D"):
				defines = append(defines, word)
			}
		}
	}
	return source, defines
}
