package main

import (
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// --wait: a server that comes up later, behind a port or a socket file.
func TestWaitForServer(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			port := freePort(t)
			addr, args := net.JoinHostPort("127.0.0.1", port), []string{"-p", port}
			if network == "unix" {
				addr = filepath.Join(t.TempDir(), "s")
				args = []string{"-s", addr}
			}
			respbench(t, append(args, "-q", "-n", "10", "--wait", "0.3", "ping")...).
				check(t, want{code: 1, stdout: "!" + qRow, stderr: `^Could not connect to Redis at .*(Connection refused|No such file or directory) \(still so after 300ms, --wait\)$`})
			p := start(t, hang, nil, append(args, "-q", "-n", "10", "--wait", "8", "ping")...)
			time.Sleep(250 * time.Millisecond) // the server is late by definition
			ln, err := net.Listen(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			s := &fakeServer{fake: fake{config: configReply, hello: helloReply, load: always(okReply)}, ln: ln, started: time.Now(), calls: map[string]int{}}
			go s.run()
			defer s.close()
			p.end().check(t, want{stdout: qRow})
		})
	}
}

// A reconnecting run takes its source addresses in turn, so that the ports of all are used.
func TestSourcesInTurn(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var mu sync.Mutex
	var hosts []string
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
			mu.Lock()
			hosts = append(hosts, host)
			mu.Unlock()
			go func() {
				defer conn.Close()
				buf := make([]byte, 1000)
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					if _, err := io.WriteString(conn, okReply); err != nil {
						return
					}
				}
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	respbench(t, "-p", port, "-c", "1", "-k", "0", "-n", "6", "-q", "--source", "::ffff:127.0.0.2,127.0.0.3", "SET", "k", "v").check(t, want{stdout: qRow})
	mu.Lock()
	defer mu.Unlock()
	// The first one asked for the configuration.
	if want := []string{"127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"}; !slices.Equal(hosts, want) {
		t.Errorf("connections came from %v, want %v", hosts, want)
	}
}
