//go:build race

package main

// The race detector takes memory of its own: runs within 100 MB took up to 114 with it. Twice the bound still finds what it is
// there for.
const memoryFactor = 2
