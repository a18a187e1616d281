package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAssertionsHold(t *testing.T) {
	r := classicResult() // 20000 requests, 70921.99/s, 0.1 to 1.6 ms
	r.Hits, r.Misses = 99, 1
	open := classicResult()
	open.Response = histogramOf(int64(2 * time.Second))
	open.Pacing = &Pacing{Offered: 1000, Achieved: 985}
	near := &Result{Pacing: &Pacing{Offered: 1000, Achieved: 984.96}}
	share := &Result{Hits: 57, Misses: 43}
	for _, c := range []struct {
		text  string
		r     *Result
		ok    bool
		value string
	}{
		{"p99<2ms", r, true, "1.585ms"},
		{"p99 < 1.5 ms", r, false, "1.585ms"},
		{"p99<1600us", r, true, "1.585ms"},
		{"p99.9<=1s", r, true, "1.598ms"},
		{"max<0.1m", r, true, "1.600ms"},
		{"min>=100000ns", r, true, "0.100ms"},
		{"avg>0.5ms", r, true, "0.850ms"},
		{"service.p50<1ms", r, true, "0.850ms"},
		{"errors==0", r, true, "0"},
		{"errors!=0", r, false, "0"},
		{"qps>=100k", r, false, "70921.99"},
		{"qps>=0.07M", r, true, "70921.99"},
		{"requests==20000", r, true, "20000"},
		{"hit_ratio>=0.99", r, true, "0.9900"},
		{"hit_ratio>99%", r, false, "0.9900"},
		{"hit_ratio>=57%", share, true, "0.5700"},
		{"hit_ratio<=0.56", share, false, "0.5700"},
		{"p99<1.5852ms", r, true, "1.585ms"},
		{"max<=1.59999996ms", r, true, "1.5999ms"}, // not 1.600, which would not be below
		{"achieved/offered>=0.985", near, false, "0.98496"},
		{"achieved/offered>=150%", open, false, "0.9850"}, // a quotient may be above 1
		{"misses/requests<1%", r, true, "0.0001"},
		{"elapsed<1s", r, true, "282.000ms"},
		{"achieved/offered>=0.99", open, false, "0.9850"},
		{"p99<1s", open, false, "2000.000ms"}, // the response time where there is one
		{"service.p99<1s", open, true, "1.585ms"},
		{"response.max>1s", open, true, "2000.000ms"},
		// What the round does not have fails.
		{"achieved/offered>=0.99", r, false, "n/a"},
		{"response.p99<1s", r, false, "n/a"},
		{"connect.max<1s", r, false, "n/a"},
		{"hit_ratio>=0", open, false, "n/a"},
		{"hits/errors<1", r, false, "n/a"},
		{"p99<1s", &Result{}, false, "n/a"},
	} {
		a, err := ParseAssertion(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if o := a.Check(c.r); o.OK != c.ok || o.Value != c.value {
			t.Errorf("%s: %v with %s, want %v with %s", c.text, o.OK, o.Value, c.ok, c.value)
		}
	}
}

func TestAssertionSyntaxErrorsNameTheColumn(t *testing.T) {
	for text, want := range map[string]string{
		"":                "column 1: want a metric, such as p99, qps or errors",
		"<5":              "column 1: want a metric",
		"p99":             "column 4: want one of < <= > >= == != here",
		"p99=5ms":         "column 4: want one of < <= > >= == != here",
		"p99 <> 5ms":      "column 5: want one of",
		"p99<":            "column 5: want a number here",
		"p99<two":         "column 5: want a number here",
		"p99<2":           "column 6: a time needs a unit: ns, us, ms, s or m",
		"p99<2mx":         `column 6: unknown unit "mx", want ns, us, ms, s or m`,
		"qps>1ms":         `column 6: unknown unit "ms", want none, k, M or G`,
		"qps>1k!":         "column 7: nothing may follow the value",
		"hit_ratio>99pct": `column 13: unknown unit "pct", want none or %`,
		"latency<1ms":     `column 1: unknown metric "latency"; there are qps,`,
		"p101<1ms":        `column 1: unknown metric "p101"`,
		"p1e1<1ms":        `column 1: unknown metric "p1e1"`,
		"server.p99<1ms":  `column 1: unknown metric "server.p99"`,
		"p99/qps<1":       "column 4: p99 and qps have different units",
		"hits/<1":         "column 6: want a metric",
		"hits//qps<1":     "column 6: want a metric after /",
		"错误<1":            `column 1: unknown metric "错误"`,
		"hit_ratio>= 99":  "column 13: hit_ratio is a share from 0 to 1; in percent it has a % sign",
		"error_ratio<1.5": "column 13: error_ratio is a share from 0 to 1",
		"qps>1.2.3":       "column 5: want a number here",
	} {
		_, err := ParseAssertion(text)
		var syntax *AssertionError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAssertionTable(t *testing.T) {
	var as []*Assertion
	for _, s := range []string{"p99<2ms", "qps>=100k", "achieved/offered>=0.99"} {
		a, err := ParseAssertion(s)
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, a)
	}
	outcomes, ok := CheckAll(as, []*Result{classicResult()})
	var b bytes.Buffer
	if err := AssertionTable(&b, outcomes); err != nil || ok {
		t.Errorf("%v, ok %v", err, ok)
	}
	golden(t, "assertions.golden", b.String())
	if _, ok := CheckAll(as[:1], []*Result{classicResult()}); !ok {
		t.Errorf("p99<2ms does not hold")
	}
	if err := AssertionTable(fullWriter{}, outcomes); !errors.Is(err, errFull) {
		t.Errorf("AssertionTable returned %v", err)
	}
}

// Parsing never panics, and what parses can be checked against any result.
func FuzzParseAssertion(f *testing.F) {
	f.Add("p99<2ms")
	f.Add("achieved/offered>=0.99")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAssertion(text)
		if err != nil {
			var syntax *AssertionError
			if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len([]rune(text))+1 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		a.Check(&Result{})
	})
}
