package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outFile is a file of results that is whole or not there: it is written beside its place and renamed. Creating it is
// the test, before the first round, that it can be written at all. What is no regular file (/dev/stdout, a named pipe)
// is written directly.
type outFile struct {
	path string
	f    *os.File
	temp bool
}

func createOutFile(option, path string) (*outFile, error) {
	if path == "-" {
		path = "/dev/stdout"
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", option, err)
		}
		return &outFile{path, f, false}, nil
	}
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: %s is a directory", option, path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot write %s: %w", option, path, plainPathError(err))
	}
	return &outFile{path, f, true}, nil
}

// plainPathError is the system's reason alone: the name of the temporary file would only puzzle.
func plainPathError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// finish writes the content and puts the file in its place.
func (o *outFile) finish(write func(io.Writer) error) error {
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
