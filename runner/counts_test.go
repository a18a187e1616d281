package runner

import (
	"fmt"
	"strings"
	"testing"
)

func TestErrorCounts(t *testing.T) {
	var e errorCounts
	total := int64(0)
	for slot := range 5000 {
		e.add(fmt.Sprintf("MOVED %d 127.0.0.1:7000", slot%500))
		e.add("OOM command not allowed")
		total += 2
	}
	byCode, sum := map[string]int64{}, int64(0)
	for _, c := range e.sorted() {
		code, _, _ := strings.Cut(c.Text, " ")
		byCode[code] += c.N
		sum += c.N
	}
	if sum != total || byCode["MOVED"] != 5000 || byCode["OOM"] != 5000 || len(e) > maxTextsPerCode+2 {
		t.Errorf("%d counted of %d, by code %v, %d lines", sum, total, byCode, len(e))
	}
	if first := e.sorted()[0]; first.Text != "OOM command not allowed" || first.N != 5000 {
		t.Errorf("the most frequent is %+v", first)
	}
	e = errorCounts{}
	for i := range 5000 { // each names its own key
		e.add(fmt.Sprintf("ERR unknown command 'FOO', with args beginning with: 'key:%d'", i))
	}
	if text := example(e.sorted()); !strings.HasPrefix(text, "ERR unknown command 'FOO'") {
		t.Errorf("the example is %q", text)
	}
	for i := range 3 * maxTexts { // codes that a server invents
		e.add(fmt.Sprintf("X%d", i))
	}
	if len(e) > maxTexts+1 || e[otherText] == 0 {
		t.Errorf("%d texts, %d others", len(e), e[otherText])
	}
}
