package runner

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"respbench/netpoll"
	"respbench/report"
)

// Version is the program's own. CHANGELOG.md says what is in it.
const Version = "0.1.0"

// environment describes the machine; what the platform does not tell stays empty.
func environment(engine string) report.Environment {
	if engine == "" {
		engine = netpoll.Engines()[0]
	}
	e := report.Environment{Tool: "respbench " + Version, Go: runtime.Version(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Engine: engine}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		e.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	e.CPU = cpuModel()
	e.Governor = oneLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	e.Congestion = oneLine("/proc/sys/net/ipv4/tcp_congestion_control")
	e.Mitigations = mitigations()
	return e
}

func oneLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// mitigations lists the kernel's active ones: they make system calls dear.
func mitigations() (list []string) {
	files, _ := filepath.Glob("/sys/devices/system/cpu/vulnerabilities/*")
	for _, f := range files {
		if s := oneLine(f); strings.HasPrefix(s, "Mitigation:") {
			list = append(list, filepath.Base(f)+": "+strings.TrimSpace(strings.TrimPrefix(s, "Mitigation:")))
		}
	}
	return list
}
