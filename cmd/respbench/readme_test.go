package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// README's commands, run as they stand there: only counts are smaller, and ports are those of servers that the test
// starts. What they print must have the shape of what README shows, figures aside.

// example is one command of a console block and the output below it.
type example struct{ command, output string }

// readExamples takes the console blocks of a Markdown file apart.
func readExamples(t *testing.T, path string) (list []example) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := false
	for line := range strings.Lines(string(text)) {
		switch command, is := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			in = strings.TrimSpace(line) == "```console"
		case !in:
		case is:
			list = append(list, example{command: strings.TrimSpace(command)})
		case len(list) > 0:
			list[len(list)-1].output += line
		}
	}
	return list
}

func TestReadmeCommands(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	examples := readExamples(t, filepath.Join(root, "README.md"))
	if len(examples) < 5 {
		t.Fatalf("only %d commands found in README.md", len(examples))
	}
	_, own := ownServer(t)
	ports := map[string]string{"8888": own}
	for _, e := range examples {
		t.Run(e.command, func(t *testing.T) {
			args := smaller(strings.Fields(e.command))
			for i, a := range args {
				if a == "6379" {
					args[i] = useRedis(t).port // skips where there is none
				} else if p, ok := ports[a]; ok {
					args[i] = p
				}
			}
			switch {
			case e.command == "go test ./...": // that is where we are
			case strings.HasPrefix(e.command, "go run ./cmd/respbench "):
				cmd := exec.Command("go", args[1:]...)
				cmd.Dir = root
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				sameShape(t, string(out), e.output)
			case args[0] == "respbench" && args[len(args)-1] == "&": // ownServer is what it would start
			case args[0] == "respbench":
				o := start(t, time.Minute, nil, args[1:]...).end()
				if o.code != 0 || o.stderr != "" {
					t.Fatalf("exit code %d, stderr %q", o.code, o.stderr)
				}
				sameShape(t, o.stdout, e.output)
			default:
				t.Errorf("README shows a command that this test does not know")
			}
		})
	}
}

// smaller cuts the counts of an example to a hundredth.
func smaller(args []string) []string {
	args = append([]string{}, args...)
	for i := 1; i < len(args); i++ {
		switch args[i-1] {
		case "-n", "-r", "--requests", "--keyspace":
			if n, err := strconv.Atoi(args[i]); err == nil {
				args[i] = strconv.Itoa(max(n/100, 1))
			}
		}
	}
	return args
}

// figures are what differs from run to run: numbers with their units. variable are the rows that are there or not
// as the figures have it: those of the distribution, of the verdict and notes.
var (
	figures  = regexp.MustCompile(`[-+]?\d[\d.]*( ?(us|ms|s|[KMG]B|B|%)\b)?%?`)
	variable = regexp.MustCompile(`(?m)^(.*(cumulative count|verdict:|late starts|note:|warning:).*)\n`)
)

// sameShape compares the lines that are there whatever the machine does.
func sameShape(t *testing.T, got, want string) {
	t.Helper()
	got, want = shape(got), shape(want)
	if got != want {
		t.Errorf("the output has another shape than README shows\ngot:\n%s\nwant:\n%s", got, want)
	}
}

func shape(text string) string {
	text = variable.ReplaceAllString(text, "")
	text = figures.ReplaceAllString(text, "N")
	return strings.Join(strings.Fields(text), " ")
}
