package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
)

// outFile is a file of results that is whole or not there: it is written beside its place and renamed. Creating it is
// the test, before the first round, that it can be written at all. What is no regular file (a named pipe) and what is
// open already (-, /dev/stdout) is written directly; a symbolic link stays, and the file it leads to is replaced.
type outFile struct {
	option string // that names it, for messages
	path   string
	f      *os.File
	temp   bool
}

func createOutFile(ctx context.Context, option, path string) (*outFile, error) {
	if fd, ok := openAlready(path); ok {
		f, err := duplicate(fd, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", option, path, err)
		}
		return &outFile{option, path, f, false}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		// A named pipe opens when there is somebody to read it.
		f, err := Interruptible(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", option, err)
		}
		return &outFile{option, path, f, false}, nil
	}
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: %s is a directory", option, path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot write %s: %w", option, path, plainPathError(err))
	}
	return &outFile{option, path, f, true}, nil
}

// apart refuses a file that would take the place of an earlier one, or be written into the same stream.
func (o *outFile) apart(earlier ...*outFile) error {
	for _, p := range earlier {
		if o.samePlace(p) {
			return fmt.Errorf("%s and %s need a file each", p.option, o.option)
		}
	}
	return nil
}

func (o *outFile) samePlace(p *outFile) bool {
	if o.temp != p.temp {
		return false
	}
	if !o.temp {
		a, openA := openAlready(o.path)
		b, openB := openAlready(p.path)
		return openA && openB && a == b
	}
	a, errA := os.Stat(filepath.Dir(o.path))
	b, errB := os.Stat(filepath.Dir(p.path))
	return filepath.Base(o.path) == filepath.Base(p.path) && errA == nil && errB == nil && os.SameFile(a, b)
}

var descriptorPath = regexp.MustCompile(`^/(?:dev|proc/self)/fd/(\d{1,6})$`)

// openAlready tells which of our descriptors a path names. Such a path must not be opened anew, let alone replaced: when
// the shell has sent our output to a file, /dev/stdout leads to that file, in which we have a place.
func openAlready(path string) (fd int, ok bool) {
	switch path {
	case "-", "/dev/stdout":
		return unix.Stdout, true
	case "/dev/stderr":
		return unix.Stderr, true
	}
	m := descriptorPath.FindStringSubmatch(path)
	if m == nil {
		return 0, false
	}
	fd, err := strconv.Atoi(m[1])
	return fd, err == nil
}

// duplicate is a second descriptor of the same open file, with the same place in it.
func duplicate(fd int, name string) (*os.File, error) {
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(d), name), nil
}

// plainPathError is the system's reason alone: the name of the temporary file would only puzzle.
func plainPathError(err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// finish writes the content and puts the file in its place.
func (o *outFile) finish(write func(io.Writer) error) error {
	if err := o.place(write); err != nil {
		return fmt.Errorf("%s: cannot write %s: %w", o.option, o.path, plainPathError(err))
	}
	return nil
}

func (o *outFile) place(write func(io.Writer) error) error {
	err := write(o.f)
	if o.temp && err == nil {
		err = o.f.Chmod(0o644)
	}
	if closing := o.f.Close(); err == nil {
		err = closing
	}
	if !o.temp {
		return err
	}
	if err == nil {
		err = os.Rename(o.f.Name(), o.path)
	}
	if err != nil {
		os.Remove(o.f.Name())
	}
	return err
}

// drop leaves no trace of a file that has no content to get.
func (o *outFile) drop() {
	o.f.Close()
	if o.temp {
		os.Remove(o.f.Name())
	}
}
