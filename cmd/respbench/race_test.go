//go:build race

package main

// The race detector takes five to ten times the memory (go.dev/doc/articles/race_detector).
const memoryFactor = 5
