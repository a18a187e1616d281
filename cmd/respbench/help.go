package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The help is printed from the table of options, in its order and under its headings.

const helpColumn = 26 // where the explanations begin

// writeHelp prints the whole help.
func writeHelp(w io.Writer, p program, rows []row, subs []*cobra.Command) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Usage: %s [OPTIONS] [COMMAND ARGS...]\n", p.name)
	if !p.dropIn {
		for _, c := range subs {
			fmt.Fprintf(b, "       %s %-22s %s\n", p.name, c.Name()+" [OPTIONS]", c.Short)
		}
	}
	writeRows(b, rows)
	fmt.Fprint(b, strings.ReplaceAll(helpEnd, "NAME", p.name))
	return b.Flush()
}

// writeRows prints the options under their headings.
func writeRows(b *bufio.Writer, rows []row) {
	group := ""
	for i := range rows {
		r := &rows[i]
		if r.hidden {
			continue
		}
		if r.group != group {
			group = r.group
			fmt.Fprintf(b, "\n%s:\n", group)
		}
		writeRow(b, r)
	}
}

func writeRow(b *bufio.Writer, r *row) {
	names := " -" + r.short
	switch {
	case r.short == "":
		names = " --" + r.long
	case r.long != "":
		names += ", --" + r.long
	}
	if r.arg != "" {
		names += " <" + r.arg + ">"
	}
	lines := strings.Split(r.text, "\n")
	if len(names)+2 > helpColumn {
		fmt.Fprintln(b, names)
		names = ""
	}
	for _, line := range lines {
		fmt.Fprintf(b, "%-*s%s\n", helpColumn, names, line)
		names = ""
	}
}

const helpEnd = `
Options end at the first other word: the rest is a command for the server, dashes and all. In its arguments
__rand_int__ is a random 12-digit number below -r, new at each place and time; __rand_1st__ ... __rand_9th__ are the
same at all places of one request; __data__ is a value of -d bytes. Several commands are joined by ';', and a number
before one repeats it.

Exit codes: 0 done; 1 usage, connection or server error; 4 a wrong value was read (--verify-get); 5 an --assert does
not hold; 130 and 143 interrupted by SIGINT and SIGTERM, with the partial result printed.

Examples:
  NAME -t set,get -n 1000000 -c 50 -P 16 -q
  NAME -r 10000 -n 10000 lpush mylist __rand_int__
  NAME --mode get --requests 1000000 --keyspace 100000 --verify-get
`
