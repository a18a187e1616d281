package workload

import (
	"bufio"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Dataset holds the rows of a CSV or TSV file whose columns a command uses as __field:name__ (valkey-benchmark --dataset). Row by
// row goes to request by request, from the first again after the last.
type Dataset struct {
	names   []string
	rows    [][]string
	columns []datasetColumn // those that a command uses
}

type datasetColumn struct {
	name  string
	cells [][]byte
}

// base64Suffix behind a field's name asks for the decoded content.
const base64Suffix = ":base64"

// byteOrderMark is what spreadsheets begin a file of UTF-8 with.
const byteOrderMark = "\uFEFF"

// ReadDataset reads a header line and at most maxRows rows (0 = all). comma separates the fields.
func ReadDataset(r io.Reader, comma rune, maxRows int64) (*Dataset, error) {
	text := bufio.NewReader(r)
	if start, _ := text.Peek(len(byteOrderMark)); string(start) == byteOrderMark { // no match: csv meets the error
		_, _ = text.Discard(len(byteOrderMark))
	}
	in := csv.NewReader(text)
	in.Comma, in.LazyQuotes, in.FieldsPerRecord = comma, true, -1
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("no header line: %w", err)
	}
	d := &Dataset{names: header}
	for maxRows <= 0 || int64(len(d.rows)) < maxRows {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		d.rows = append(d.rows, row)
	}
	if len(d.rows) == 0 {
		return nil, errors.New("no rows behind the header line")
	}
	return d, nil
}

// Rows is the number of rows.
func (d *Dataset) Rows() int { return len(d.rows) }

// column returns the index of a used column, and makes it one if it is not.
func (d *Dataset) column(name string) (int, error) {
	for i := range d.columns {
		if d.columns[i].name == name {
			return i, nil
		}
	}
	plain, encoded := strings.CutSuffix(name, base64Suffix)
	at := slices.Index(d.names, plain)
	if at < 0 {
		return 0, fmt.Errorf("no such field; the data set has %s", strings.Join(d.names, ", "))
	}
	col := datasetColumn{name: name, cells: make([][]byte, len(d.rows))}
	for i, row := range d.rows {
		if at >= len(row) {
			continue // a short row: empty
		}
		col.cells[i] = []byte(row[at])
		if encoded {
			decoded, err := base64.StdEncoding.DecodeString(row[at])
			if err != nil {
				return 0, fmt.Errorf("row %d: %w", i+1, err)
			}
			col.cells[i] = decoded
		}
	}
	d.columns = append(d.columns, col)
	return len(d.columns) - 1, nil
}

func (d *Dataset) used() bool { return len(d.columns) > 0 }

// cell is the content of a used column in the row whose turn it is.
func (d *Dataset) cell(ordinal uint64, column int) []byte {
	return d.columns[column].cells[ordinal%uint64(len(d.rows))]
}

// longest is the length of the longest cell of a used column.
func (d *Dataset) longest(column int) int {
	n := 0
	for _, cell := range d.columns[column].cells {
		n = max(n, len(cell))
	}
	return n
}
