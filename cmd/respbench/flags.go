package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Every option is one row of the table in options_table.go. From the rows come the pflag.FlagSet, the help text,
// the choice of mode and the masking of secrets, so that removing a row removes the option everywhere.
//
// redis-benchmark's short names have no long twin (-n is not --requests: the latter chooses bench.c mode), and
// pflag needs a long name, so a row without one is registered under its letter and `--n` is refused in habits.go.

// row is one option.
type row struct {
	group string
	short string // one letter, or empty
	long  string // empty when there is only a letter
	arg   string // what the help calls the value; empty for a switch
	text  string // help; a newline starts a continuation line
	set   func(string) error
	in    scope
	noun  string // what an error calls the value; empty means "value"
	// secret values never appear in an error, a log or a result.
	secret bool
	// hidden options are parsed but not in the help.
	hidden bool
}

// scope says in which mode an option makes sense.
type scope uint8

const (
	anyMode     scope = iota
	classicOnly       // refused in bench.c mode
	benchOnly         // chooses bench.c mode
)

// name is the key of the row in the FlagSet.
func (r *row) name() string {
	if r.long != "" {
		return r.long
	}
	return r.short
}

// typed is the option as a user types it, for messages.
func (r *row) typed() string {
	switch {
	case r.long == "":
		return "-" + r.short
	case r.short == "":
		return "--" + r.long
	}
	return "-" + r.short + "/--" + r.long
}

// setter is the only pflag.Value of this program: the row's function does the work.
type setter struct {
	set    func(string) error
	isBool bool
}

func (s setter) Set(text string) error { return s.set(text) }

// String is what pflag and cobra read as the current value. Nothing of ours asks for it, but cobra insists that
// a flag named "help" reads as a boolean.
func (s setter) String() string {
	if s.isBool {
		return "false"
	}
	return ""
}

func (s setter) Type() string {
	if s.isBool {
		return "bool"
	}
	return "value"
}

// register adds the rows to a flag set.
func register(fs *pflag.FlagSet, rows []row) {
	fs.SortFlags = false
	fs.SetInterspersed(false)
	for i := range rows {
		r := &rows[i]
		f := fs.VarPF(setter{set: r.set, isBool: r.arg == ""}, r.name(), r.short, strings.ReplaceAll(r.text, "\n", " "))
		if r.arg == "" {
			f.NoOptDefVal = "true"
		}
		f.Hidden = r.hidden
	}
}

// errHelp and errVersion end the parsing at the option that asks for them: what follows is not looked at.
var (
	errHelp    = errors.New("help wanted")
	errVersion = errors.New("version wanted")
)

// usageError is a mistake of the command line. It prints as one line with a hint at the help.
type usageError struct {
	text   string
	help   string // the subcommand whose help has the answer; empty for the benchmark's own
	option string // as typed, when it is not an option of the benchmark or has no value
}

func (e *usageError) Error() string { return e.text }
func (e *usageError) ExitCode() int { return 1 }

func usagef(format string, args ...any) error { return &usageError{text: fmt.Sprintf(format, args...)} }

// invalidOption begins with redis-benchmark's words.
func invalidOption(option, why string) error {
	return &usageError{text: fmt.Sprintf("%s: %s", invalidLine(option), why), option: option}
}

func invalidLine(option string) string {
	return fmt.Sprintf("Invalid option %q or option argument missing", option)
}

// explainForeign turns the errors of a subcommand's own flags into ours. Its --help is cobra's.
func explainForeign(subcommand string, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var usage *usageError
	if err = explain(err, nil); errors.As(err, &usage) {
		usage.help = " " + subcommand
	}
	return err
}

// explain turns pflag's errors into ours. rows may be nil (a subcommand's own flags).
func explain(err error, rows []row) error {
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	var nameless *pflag.InvalidSyntaxError
	switch {
	case errors.Is(err, errHelp), errors.Is(err, pflag.ErrHelp):
		return errHelp
	case errors.Is(err, errVersion):
		return errVersion
	case errors.As(err, &invalid):
		return explainInvalid(invalid, rows)
	case errors.As(err, &missing):
		name := missing.GetSpecifiedName()
		switch {
		case rows == nil:
			return usagef("option %s needs a value", dashed(name))
		case name == "h":
			return errHelp // -h alone, or last
		}
		return invalidOption(dashed(name), dashed(name)+" needs a value")
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if letters := []rune(unknown.GetSpecifiedShortnames()); len(letters) > 0 {
			return noOption("-"+string(letters[:1]), "", rows)
		}
		return noOption(dashed(name), similar(name, rows), rows)
	case errors.As(err, &nameless): // "---", "--="
		return noOption(nameless.GetSpecifiedFlag(), "", rows)
	}
	return usagef("%s", err)
}

// noOption is the error of an unknown option, as typed.
func noOption(typed, meant string, rows []row) error {
	if rows == nil {
		return usagef("unknown option %q", typed)
	}
	return invalidOption(typed, noSuchOption(typed, meant))
}

func explainInvalid(e *pflag.InvalidValueError, rows []row) error {
	name := e.GetFlag().Name
	r := find(rows, name)
	if r == nil {
		cause := e.Unwrap()
		var number *strconv.NumError
		if errors.As(cause, &number) {
			cause = errors.New("must be a number of the right size")
			if number.Func == "ParseBool" {
				cause = errors.New("must be true or false")
			}
		}
		return usagef("invalid value %s for %s: %s", quoted(e.GetValue()), dashed(name), cause)
	}
	var plain *usageError
	if errors.As(e.Unwrap(), &plain) {
		return plain // the row made the whole sentence
	}
	if r.secret {
		return usagef("invalid %s: %s", r.typed(), e.Unwrap())
	}
	noun := r.noun
	if noun == "" {
		noun = "value"
	}
	return usagef("invalid %s %s for %s: %s", noun, quoted(e.GetValue()), r.typed(), e.Unwrap())
}

// quoted is a value in a message, cut so that what is wrong with it stays in sight.
func quoted(value string) string {
	const most = 100
	if len(value) > most {
		value = value[:most] + "..."
	}
	return strconv.Quote(value)
}

func find(rows []row, name string) *row {
	for i := range rows {
		if rows[i].name() == name {
			return &rows[i]
		}
	}
	return nil
}

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// similar is the option that shares the most leading letters with an unknown one, at least three; empty: none does.
func similar(name string, rows []row) string {
	best, most := "", 2
	for i := range rows {
		if n := sharedPrefix(rows[i].long, name); n > most && !rows[i].hidden {
			best, most = rows[i].long, n
		}
	}
	if best == "" {
		return ""
	}
	return "--" + best
}

// noSuchOption proposes another option when there is one.
func noSuchOption(typed, meant string) string {
	if meant == "" {
		return fmt.Sprintf("there is no option %q", typed)
	}
	return fmt.Sprintf("there is no option %q; did you mean %s?", typed, meant)
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
