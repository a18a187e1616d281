package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A path that names an open descriptor is written where that descriptor stands, and never replaced.
func TestOpenDescriptorAsFile(t *testing.T) {
	for _, c := range []struct {
		path string
		fd   int
		ok   bool
	}{
		{"-", 1, true}, {"/dev/stdout", 1, true}, {"/dev/stderr", 2, true}, {"/dev/fd/1", 1, true}, {"/proc/self/fd/17", 17, true},
		{"r.json", 0, false}, {"/dev/fd/x", 0, false}, {"/dev/fd/1/r.json", 0, false}, {"/dev/null", 0, false},
	} {
		if fd, ok := openAlready(c.path); fd != c.fd || ok != c.ok {
			t.Errorf("%s: descriptor %d, %v, want %d, %v", c.path, fd, ok, c.fd, c.ok)
		}
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "before ")
	writeOut(t, fmt.Sprintf("/dev/fd/%d", f.Fd()), "between ")
	fmt.Fprint(f, "after")
	if got, err := os.ReadFile(f.Name()); err != nil || string(got) != "before between after" {
		t.Errorf("%q, %v", got, err)
	}
}

// A symbolic link stays; the file that it leads to is replaced.
func TestLinkAsFile(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	for _, err := range []error{os.WriteFile(target, []byte("old"), 0o644), os.Symlink("target", link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeOut(t, link, "new")
	if to, err := os.Readlink(link); err != nil || to != "target" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}

func writeOut(t *testing.T, path, text string) {
	t.Helper()
	out, err := createOutFile(context.Background(), "--json", path)
	if err == nil {
		err = out.finish(func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	if err != nil {
		t.Fatal(err)
	}
}
