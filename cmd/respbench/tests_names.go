package main

// testNames are the names that -t knows.
func testNames() []string {
	return []string{"ping_inline", "ping_mbulk", "set", "get"}
}
