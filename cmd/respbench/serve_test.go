package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"respbench/kvstore"
)

// The server says where it listens, ends when its parent's end of the pipe closes, and ends without an error.
func TestServeEndsWithItsParent(t *testing.T) {
	stdin, parent := io.Pipe()
	out, stdout := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- serve(context.Background(), kvstore.Options{Host: "127.0.0.1"}, stdin, stdout)
		stdout.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`^ready (127\.0\.0\.1:\d+)\n$`).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("got %q, %v", line, err)
	}
	c, err := net.Dial("tcp", m[1])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(c, "PING\r\n")
	reply := make([]byte, 7)
	if _, err := io.ReadFull(c, reply); err != nil || string(reply) != "+PONG\r\n" {
		t.Errorf("got %q, %v", reply, err)
	}
	parent.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server goes on")
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the connection did not end in order: %v", err)
	}
}

func TestSubcommandsRefuseNonsenseInOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for args, say := range map[string]string{
		"serve extra":                   `^respbench: unexpected word "extra": serve has options only \(see respbench serve --help\)\n$`,
		"suite extra":                   `^respbench: unexpected word "extra": suite has options only \(see respbench suite --help\)\n$`,
		"serve --port x":                `^respbench: invalid value "x" for --port: must be a whole number`,
		"serve --port 0x5":              `^respbench: invalid value "0x5" for --port: must be a whole number`,
		"serve --dir=":                  `^--dir "": must not be empty\n$`,
		"serve --fsync=":                `^--fsync "": must not be empty\n$`,
		"serve --maxclients 0":          `^--maxclients 0: must be at least 1\n$`,
		"serve --nosuch":                `^respbench: unknown option "--nosuch" \(see respbench serve --help\)\n$`,
		"serve --port " + port:          `^cannot listen on 127\.0\.0\.1:` + port + `: .*address already in use\n$`,
		"suite --resume=":               `^respbench: invalid value "" for --resume: must not be empty \(see respbench suite --help\)\n$`,
		"report --before= x":            `^respbench: invalid value "" for --before: must not be empty \(see respbench report --help\)\n$`,
		"compare a b --fail-if-slower=": `^respbench: invalid value "" for --fail-if-slower: must not be empty \(see respbench compare --help\)\n$`,
		"report":                        `^respbench: report needs a file that --json or suite wrote \(see respbench report --help\)\n$`,
		"report /no/such/file":          `^open /no/such/file: no such file or directory\n$`,
	} {
		o := respbench(t, strings.Fields(args)...)
		if o.code != 1 || o.stdout != "" || !regexp.MustCompile(say).MatchString(o.stderr) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args, o.code, o.stdout, o.stderr)
		}
	}
}

func TestServeRefusesNonsense(t *testing.T) {
	for _, o := range []kvstore.Options{{Port: -1}, {Fsync: "x"}, {Null: true, Persistence: kvstore.PersistIncremental}} {
		if err := serve(context.Background(), o, nil, io.Discard); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
