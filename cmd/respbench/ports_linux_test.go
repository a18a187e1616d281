package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// C172 in a network of its own, where few ports are given out and each stays taken for a minute. The script leaves what
// each run said in a file, and says itself when it may not have such a network.
const fewPorts = `
ip link set lo up && echo "40000 40099" > /proc/sys/net/ipv4/ip_local_port_range &&
	echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse || exit 77
respbench serve --port 7777 &
server=$!
respbench -p 7777 --wait 10 -n 1 -c 1 -q ping > ready 2>&1 || exit 1
i=1
for engine in epoll gnet; do
	respbench -p 7777 --engine $engine -c 10 -n 1000 -k 0 -q --connect-timeout 0.3 ping > $engine.few 2>&1
	respbench -p 7777 --engine $engine -c 10 -n 150 -k 0 --source 127.0.1.$i,127.0.2.$i ping > $engine.more 2>&1
	i=$((i + 1))
done
kill $server
`

func TestFewPorts(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set up a network in")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	timed(t, func() string { return runFewPorts(t, sh, self) }) // a process that waits for a processor finds its time is up instead
}

// runFewPorts is the script's run: what was wrong with it, or nothing.
func runFewPorts(t *testing.T, sh, self string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "respbench")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, "-c", fewPorts)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() != 77:
		return fmt.Sprintf("%v\n%s", err, readFile(t, filepath.Join(dir, "ready")))
	case err != nil:
		t.Skip("no network of our own:", err)
	}
	for _, engine := range engines() {
		few := readFile(t, filepath.Join(dir, engine+".few"))
		if !regexp.MustCompile(`(?m)^Could not connect to Redis at 127\.0\.0\.1:7777: Cannot assign requested address: no local port is free \(.*--source.*\)`).MatchString(few) {
			return engine + " without a free port says " + few
		}
		// What is asked beside the load comes from these addresses, too.
		more := readFile(t, filepath.Join(dir, engine+".more"))
		if !strings.Contains(more, "150 requests completed") || strings.Contains(more, "CONFIG") || strings.Contains(more, "no INFO") {
			return engine + " with ports of other addresses says " + more
		}
	}
	return ""
}
