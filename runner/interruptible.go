package runner

import "context"

// Interruptible is what do returns, or the signal that came first. It is for calls that wait for somebody else and cannot
// be told to stop, such as opening a named pipe: what do waits for is then left to the end of the process.
func Interruptible[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := do()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
