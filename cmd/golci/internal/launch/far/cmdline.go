package far

import (
	"errors"
	"strings"
)

// errQuote: a command line ends inside quotes or after a backslash.
var errQuote = errors.New("a quote is not closed")

// Words splits a command line into words as a POSIX shell does. Blanks separate words. Single quotes keep all. Double
// quotes keep all but a backslash before one of `"\$` and the backquote. A backslash elsewhere keeps the next
// character. Nothing is expanded.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote, escaped := false, byte(0), false
	for i := range len(line) {
		c := line[i]
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(c)) {
				word.WriteByte('\\')
			}
			word.WriteByte(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errQuote
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// quoteWord makes one word for a POSIX shell of s.
func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
