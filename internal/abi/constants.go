package abi

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed constants.txt
var constantText string

// Constant is a constant of MPI.
type Constant struct {
	Name  string // without MPI_
	Value int64
	Of    string // the constant whose other name this is, or ""
}

// Form is what constants are in C.
type Form string

// The forms.
const (
	Handle Form = "handle" // a pointer to a struct, with a type of its own
	Enum   Form = "enum"   // integers
	Type   Form = "type"   // integers of an enumeration with a name
	Macro  Form = "macro"  // integers that the preprocessor knows
	Cast   Form = "cast"   // values of another type
)

// Section is constants of one form and type.
type Section struct {
	Form      Form
	Type      string // in C; "" for integers
	Title     string // what they are; "" where the type tells
	Constants []Constant
}

// parseConstants reads the text of the table.
func parseConstants(text string) (sections []Section, err error) {
	known := make(map[string]int64)
	for _, line := range joinLines(text) {
		if head, ok := strings.CutPrefix(line, "["); ok {
			s, err := parseHead(strings.TrimSuffix(head, "]"))
			if err != nil {
				return nil, err
			}
			sections = append(sections, s)
			continue
		}
		if len(sections) == 0 {
			return nil, fmt.Errorf("abi: %q is in no section", line)
		}
		s := &sections[len(sections)-1]
		for _, word := range strings.Fields(line) {
			c, err := parseConstant(word, known)
			if err != nil {
				return nil, err
			}
			s.Constants = append(s.Constants, c)
		}
	}
	return sections, nil
}

func parseHead(head string) (s Section, err error) {
	form, rest, _ := strings.Cut(head, " ")
	s.Form = Form(form)
	switch s.Form {
	case Enum, Macro:
		s.Title = rest
	case Handle, Type:
		s.Type, s.Title, _ = strings.Cut(rest, " ")
		s.Type = "MPI_" + s.Type
	case Cast:
		s.Type, s.Title, _ = strings.Cut(rest, " ")
	default:
		return s, fmt.Errorf("abi: [%s] has no known form", head)
	}
	return s, nil
}

func parseConstant(word string, known map[string]int64) (c Constant, err error) {
	name, value, ok := strings.Cut(word, "=")
	if _, twice := known[name]; !ok || twice {
		return c, fmt.Errorf("abi: constant %q has no value, or is there twice", word)
	}
	c.Name = name
	if v, ok := known[value]; ok {
		c.Value, c.Of = v, value
	} else if c.Value, err = strconv.ParseInt(value, 0, 64); err != nil {
		return c, fmt.Errorf("abi: constant %q has no value: %w", word, err)
	}
	known[name] = c.Value
	return c, nil
}
