package protocol

// splitWords splits an inline request into words as sdssplitargs of Redis does: blanks separate; "double quotes" know \n \r
// \t \b \a \xHH and \ before any other byte; 'single quotes' know \' only; a closing quote must end its word. Words
// are unquoted in place, which can only shorten them, and appended to args as slices of line. It reports false for
// unbalanced quotes.
func splitWords(line []byte, args [][]byte) (out [][]byte, ok bool) {
	out = args
	i := 0
	for {
		for i < len(line) && blank(line[i]) {
			i++
		}
		if i == len(line) {
			return out, true
		}
		from, to := i, i
		for i < len(line) && !separator(line[i]) {
			if c := line[i]; c != '"' && c != '\'' {
				line[to] = c
				to++
				i++
				continue
			}
			if to, i, ok = unquote(line, to, i+1, line[i]); !ok {
				return out, false
			}
			break // the closing quote ended the word
		}
		out = append(out, line[from:to:to])
	}
}

// unquote moves the quoted text that starts at i to offset to and returns the offsets behind both; ok is false when the
// quote does not end, or does not end the word.
func unquote(line []byte, to, i int, quote byte) (newTo, newI int, ok bool) {
	for i < len(line) {
		c := line[i]
		switch {
		case c == quote:
			i++
			return to, i, i == len(line) || blank(line[i])
		case c == '\\' && quote == '\'' && i+1 < len(line) && line[i+1] == '\'':
			c = '\''
			i++
		case c == '\\' && quote == '"' && i+3 < len(line) && line[i+1] == 'x' && isHex(line[i+2]) && isHex(line[i+3]):
			c = hexDigit(line[i+2])<<4 | hexDigit(line[i+3])
			i += 3
		case c == '\\' && quote == '"' && i+1 < len(line):
			i++
			c = unescape(line[i])
		}
		line[to] = c
		to++
		i++
	}
	return to, i, false
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

// separator ends a word without quotes: fewer bytes than those that may stand between words.
func separator(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// blank is isspace of the C locale.
func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexDigit(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
