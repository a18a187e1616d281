package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"regexp"
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

func TestServeRefusesNonsense(t *testing.T) {
	for _, o := range []kvstore.Options{{Port: -1}, {Fsync: "x"}, {Null: true, Persistence: kvstore.PersistIncremental}} {
		if err := serve(context.Background(), o, nil, io.Discard); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
