package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"respbench/runner"
)

const ownName = "respbench"

// program is what argv[0] makes of us.
type program struct {
	name   string // for messages and --version
	dropIn bool   // called redis-benchmark or valkey-benchmark: no subcommands, and no line those do not print
}

func programOf(argv []string) program {
	if len(argv) == 0 {
		return program{name: ownName}
	}
	name := strings.TrimSuffix(filepath.Base(argv[0]), ".exe")
	if name == "redis-benchmark" || name == "valkey-benchmark" {
		return program{name: name, dropIn: true}
	}
	return program{name: ownName}
}

func (p program) versionLine() string { return fmt.Sprintf("%s %s", p.name, runner.Version) }
