package report

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// probe is a page that shows the report in frames of two widths and writes down what it measures there:
// how far the page overflows to the right, how many pictures are drawn, the smallest text in them.
const probe = `<!DOCTYPE html><body><pre id="out"></pre><script>
const widths=[1280,375];let left=widths.length;
for(const w of widths){const f=document.createElement('iframe');f.style.width=w+'px';f.style.height='3000px';f.src='/report';
f.onload=()=>{const d=f.contentDocument,e=d.documentElement;
const drawn=[...d.querySelectorAll('svg')].filter(s=>s.getBoundingClientRect().height>60).length;
const sizes=[...d.querySelectorAll('svg text')].map(t=>{const s=t.ownerSVGElement;return parseFloat(d.defaultView.getComputedStyle(t).fontSize)*s.getBoundingClientRect().width/s.viewBox.baseVal.width});
document.getElementById('out').textContent+='w='+w+' overflow='+(e.scrollWidth-e.clientWidth)+' drawn='+drawn+' text='+Math.min(...sizes).toFixed(1)+'\n';
if(--left==0)document.title='done'};document.body.append(f)}
</script></body>`

// The report in a real browser: it renders, asks for nothing, and neither a desktop nor a phone has to
// scroll sideways.
func TestReportInChromium(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	page := suiteOutput(t, SuiteHTML, scriptSuite(t), ReportOptions{})
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		body := probe
		if r.URL.Path == "/report" {
			body = page
		}
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=5000",
		"--user-data-dir="+t.TempDir(), "--window-size=1400,3000", "--dump-dom", server.URL+"/").Output()
	if err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	lines := regexp.MustCompile(`w=(\d+) overflow=(-?\d+) drawn=(\d+) text=([0-9.]+)`).FindAllStringSubmatch(string(out), -1)
	if len(lines) != 2 {
		t.Fatalf("the browser measured %q", lines)
	}
	for _, l := range lines {
		if l[2] != "0" {
			t.Errorf("at %s px the page overflows by %s px", l[1], l[2])
		}
		if want := fmt.Sprint(strings.Count(page, "<svg")); l[3] != want {
			t.Errorf("at %s px %s pictures are drawn, want %s", l[1], l[3], want)
		}
		if number(t, l[4]) < 8 {
			t.Errorf("at %s px the smallest text of a picture has %s px", l[1], l[4])
		}
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(asked)
	if got := slices.DeleteFunc(slices.Compact(asked), func(p string) bool { return p == "/favicon.ico" }); !slices.Equal(got, []string{"/", "/report"}) {
		t.Errorf("the browser asked for %q", got)
	}
}
