// Package nodelist reads the short forms in which Slurm writes the names of nodes, and numbers for each of them.
package nodelist

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Err is wrapped by all errors: a text is not written as Slurm writes it, or stands for too many nodes.
var Err = errors.New("no list of nodes")

// mostLetters is the length of the longest name of a machine in the domain name system.
const mostLetters = 255

// Names expands the short form of at most most names: n[1-2,7],gpu[01-03],login. A name may have several ranges, as in
// rack[1-2]n[1-4]; the last one counts fastest. Numbers keep their leading zeros. Errors wrap Err.
func Names(text string, most int) (names []string, err error) {
	l := list{most: most}
	for word, rest, more := "", text, true; more; {
		if word, rest, more, err = cutWord(rest); err != nil {
			return nil, err
		}
		if err = l.expandWord("", word); err != nil {
			return nil, err
		}
	}
	return l.names, nil
}

// list is the names so far. most bounds them, so that a wrong text cannot fill the memory.
type list struct {
	names []string
	most  int
}

// cutWord cuts text at its first comma outside brackets.
func cutWord(text string) (word, rest string, more bool, err error) {
	inside := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' && !inside, c == ']' && inside:
			inside = !inside
		case c == '[' || c == ']':
			return "", "", false, fmt.Errorf("%w: a bracket too many", Err)
		case c == ',' && !inside:
			return text[:i], text[i+1:], true, nil
		}
	}
	if inside {
		return "", "", false, fmt.Errorf("%w: a bracket is not closed", Err)
	}
	return text, "", false, nil
}

// expandWord appends to the names all that word, which follows front, stands for.
func (l *list) expandWord(front, word string) error {
	before, after, ranged := strings.Cut(word, "[")
	if len(front)+len(before) > mostLetters {
		return fmt.Errorf("%w: a name of more than %d letters", Err, mostLetters)
	}
	if !ranged {
		return l.addName(front + word)
	}
	ranges, after, _ := strings.Cut(after, "]")
	for r := range strings.SplitSeq(ranges, ",") {
		low, high, width, err := parseRange(r)
		if err != nil {
			return err
		}
		for n := low; n <= high; n++ {
			if err = l.expandWord(front+before+fmt.Sprintf("%0*d", width, n), after); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *list) addName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: an empty name", Err)
	}
	if len(l.names) == l.most {
		return fmt.Errorf("%w: more than %d nodes", Err, l.most)
	}
	l.names = append(l.names, name)
	return nil
}

// parseRange reads "7" or "01-12". The width is that of the first number, whose leading zeros count.
func parseRange(text string) (low, high, width int, err error) {
	first, last, two := strings.Cut(text, "-")
	if !two {
		last = first
	}
	low, err = digits(first)
	if err == nil {
		high, err = digits(last)
	}
	if err != nil || low > high {
		return 0, 0, 0, fmt.Errorf("%w: %q is no range of numbers", Err, text)
	}
	return low, high, len(first), nil
}

// mostDigits keeps numbers of nodes within an int, and names short.
const mostDigits = 9

func digits(text string) (int, error) {
	if len(text) == 0 || len(text) > mostDigits || strings.Trim(text, "0123456789") != "" {
		return 0, Err
	}
	return strconv.Atoi(text)
}

// Counts expands the short form of numbers by node, "3,1" or "2(x3),4", for exactly nodes nodes. The error is Err.
func Counts(text string, nodes int) ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		times := 1
		number, repeat, repeated := strings.Cut(word, "(x")
		n, err := digits(number)
		if err == nil && repeated {
			repeat, closed := strings.CutSuffix(repeat, ")")
			if times, err = digits(repeat); err == nil && !closed {
				err = Err
			}
		}
		if err != nil || n < 1 || times < 1 || len(out)+times > nodes {
			return nil, Err
		}
		for range times {
			out = append(out, n)
		}
	}
	if len(out) != nodes {
		return nil, Err
	}
	return out, nil
}
