package info

import (
	"strconv"
	"strings"
)

// spaces are what a value may have around its contents.
const spaces = " \t\n\v\f\r"

// Bool is the value of a key that stands for a truth value: true or false, in small letters. !ok: there is no such key,
// or its value is something else, which the standard has programs ignore.
func (i *Info) Bool(key string) (value, ok bool) {
	text, ok, _ := i.Get(key)
	text = strings.Trim(text, spaces)
	return text == "true", ok && (text == "true" || text == "false")
}

// Int is the value of a key that stands for a decimal number, which may have a sign. !ok is as for Bool.
func (i *Info) Int(key string) (value int64, ok bool) {
	text, ok, _ := i.Get(key)
	value, err := strconv.ParseInt(strings.Trim(text, spaces), 10, 64)
	if !ok || err != nil {
		return 0, false
	}
	return value, true
}

// listPairs is the value of a key that stands for a list: parts between commas, without the space around them. !ok:
// there is no such key. An empty value has no parts.
func (i *Info) listPairs(key string) (parts []string, ok bool) {
	text, ok, _ := i.Get(key)
	if strings.Trim(text, spaces) == "" {
		return nil, ok
	}
	for part := range strings.SplitSeq(text, ",") {
		parts = append(parts, strings.Trim(part, spaces))
	}
	return parts, ok
}

// Start is what a launcher was asked for, for MPI_INFO_ENV and MPI_Info_create_env (10.2.1). What is empty or 0 is not
// known.
type Start struct {
	Command     string   // the program
	Args        []string // its arguments
	MaxProcs    int      // ranks
	Soft        string   // which other numbers of ranks would do
	Host, Arch  string
	Dir         string // working directory
	File        string // from which the launcher read more
	ThreadLevel string // such as MPI_THREAD_MULTIPLE
}

// Env has what is known of a start, under the standard's keys. A value that is too long is left out, since half of it
// would mislead.
func Env(s Start) *Info {
	i := new(Info)
	procs := ""
	if s.MaxProcs > 0 {
		procs = strconv.Itoa(s.MaxProcs)
	}
	for _, p := range []pair{
		{"command", s.Command},
		{"argv", strings.Join(s.Args, " ")},
		{"maxprocs", procs},
		{"soft", s.Soft},
		{"host", s.Host},
		{"arch", s.Arch},
		{"wdir", s.Dir},
		{"file", s.File},
		{"thread_level", s.ThreadLevel},
	} {
		if p.value != "" && checkValue(p.key, p.value) == nil {
			i.pairs = append(i.pairs, p)
		}
	}
	return i
}
