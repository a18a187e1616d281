package workload

import (
	"slices"
	"testing"
)

func TestTemplates(t *testing.T) {
	p, err := Mix([]string{"3:GET __key__", "1:MULTI ; SET __key__ __data__ ; EXEC"},
		MixOptions{Keyspace: 10, KeyPrefix: "k:", Size: ConstantSize(1000), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Templates() != 4 {
		t.Fatalf("%d templates, want 4", p.Templates())
	}
	names := []string{"GET", "MULTI", "SET", "EXEC"}
	for k, name := range names {
		if words := p.Sample(k, 20); words[0] != name || slices.ContainsFunc(words, func(w string) bool { return len(w) > 20 }) {
			t.Errorf("sample %d is %q", k, words)
		}
	}
	if words := p.Sample(4, 20); words != nil {
		t.Errorf("sample of no template: %q", words)
	}
	for i := range uint64(300) {
		if name := string(p.AppendArg(nil, i, 0)); name != names[p.Template(i)] {
			t.Fatalf("request %d is %s, its template %d", i, name, p.Template(i))
		}
		first, n := p.Execution(i)
		if want := map[bool]int{true: 1, false: 3}[p.Template(i) == 0]; n != want || i < first || i >= first+uint64(n) {
			t.Fatalf("request %d is in %d … +%d", i, first, n)
		}
		if n == 3 && p.Template(first) != 1 {
			t.Fatalf("the execution of request %d begins with template %d", i, p.Template(first))
		}
	}
}

func TestTemplatesOfSuite(t *testing.T) {
	plans, _ := Suite([]string{"mset", "ping_inline"}, TestOptions{DataSize: 1 << 20, Cluster: true})
	for _, p := range plans {
		if words := p.Sample(0, 16); p.Templates() != 1 || len(words) != p.Args(0) {
			t.Errorf("%s: %d templates, sample %q", p.Title, p.Templates(), words)
		}
	}
}
