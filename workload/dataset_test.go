package workload

import (
	"strings"
	"testing"
)

const sampleRows = "id,title,body,blob\n1,\"a, \"\"b\"\"\",first,AAEC\n2,plain,\"two\r\nlines\",\n3,short\n"

func mustDataset(t testing.TB, text string, comma rune, maxRows int64) *Dataset {
	t.Helper()
	d, err := ReadDataset(strings.NewReader(text), comma, maxRows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDatasetRows(t *testing.T) {
	o := TestOptions{Dataset: mustDataset(t, sampleRows, ',', 0), DataSize: 3}
	p := mustCommand(t, o, "hset", "doc:__field:id__", "t", "<__field:title__>", "b", "__field:body__",
		"raw", "__field:blob:base64__", "__data__")
	want := []string{
		"hset doc:1 t <a, \"b\"> b first raw \x00\x01\x02 __data__",
		"hset doc:2 t <plain> b two\nlines raw  __data__",
		"hset doc:3 t <short> b  raw  __data__",
		"hset doc:1 t <a, \"b\"> b first raw \x00\x01\x02 __data__",
	}
	for _, ahead := range []int{MinAhead, 1 << 16} {
		for i, c := range parseCommands(t, wholeStream(t, p, ahead, len(want))) {
			if got := strings.Join(c, " "); got != want[i] {
				t.Errorf("request %d is %q, want %q", i, got, want[i])
			}
		}
	}
	if got := cutStream(t, p, MinAhead, 10, func(int) int { return 1 }); string(got) != string(requestBytes(p, 10)) {
		t.Errorf("byte by byte: %q", clip(got))
	}
}

func TestDatasetTSVAndMaxRows(t *testing.T) {
	o := TestOptions{Dataset: mustDataset(t, "a\tb\nx,y\t1\nz\t2\n", '\t', 1)}
	if o.Dataset.Rows() != 1 {
		t.Errorf("%d rows, want 1", o.Dataset.Rows())
	}
	p := mustCommand(t, o, "set", "__field:a__", "__field:b__")
	if got := parseCommands(t, wholeStream(t, p, 1<<16, 2))[1]; strings.Join(got, " ") != "set x,y 1" {
		t.Errorf("request %q", got)
	}
}

// A spreadsheet's byte order mark is no part of the first name, quoted or not.
func TestDatasetByteOrderMark(t *testing.T) {
	for _, header := range []string{"a,b", "\"a\",b"} {
		o := TestOptions{Dataset: mustDataset(t, byteOrderMark+header+"\r\nx,y\r\n", ',', 0)}
		p := mustCommand(t, o, "set", "__field:a__", "__field:b__")
		if got := parseCommands(t, wholeStream(t, p, 1<<16, 1))[0]; strings.Join(got, " ") != "set x y" {
			t.Errorf("header %q: request %q", header, got)
		}
	}
}

func TestDatasetErrors(t *testing.T) {
	for text, want := range map[string]string{"": "no header", "a,b\n": "no rows"} {
		if _, err := ReadDataset(strings.NewReader(text), ',', 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for want, args := range map[string][]string{
		"no such field; the data set has id, title, body, blob": {"set", "k", "__field:nosuch__"},
		"has no __field:name__":                                 {"set", "k", "v"},
		"illegal base64":                                        {"set", "k", "__field:title:base64__"},
	} {
		o := TestOptions{Dataset: mustDataset(t, sampleRows, ',', 0)}
		if _, err := Command(args, nil, false, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", args, err, want)
		}
	}
}
