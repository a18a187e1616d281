package runner

// Rate is the offered load of an open-loop run. The zero value is a closed loop.
type Rate struct {
	PerSecond float64
}
