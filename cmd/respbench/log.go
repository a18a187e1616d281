package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// newLog makes the diagnostics' logger: for people when w is a terminal, JSON lines otherwise. Passwords are never
// logged, and no data goes here.
func newLog(w io.Writer, level string) zerolog.Logger {
	if level == "off" {
		return zerolog.Nop()
	}
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.WarnLevel
	}
	if isTerminal(w) {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger()
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width of the terminal that w is at the moment; 0 when it is none.
func columns(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
