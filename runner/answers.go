package runner

import (
	"fmt"
	"slices"
	"strings"

	"respbench/workload"
)

// A request is measured by its reply, so it must have one. Commands without a reply of their own, or with many, would
// be waited for in vain, or put every later reply out of step.

// subscriptions answer once for each channel. With RESP3 that is a push message, which answers no request.
var subscriptions = []string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"}

// oneReplyEach refuses a plan with a command that is not answered by one reply.
func oneReplyEach(p *workload.Plan, resp3 bool) error {
	const enough = 32 // bytes of a word: those that matter are short
	for t := range p.Templates() {
		words := p.Sample(t, enough)
		name := strings.ToUpper(words[0])
		why := ""
		switch {
		case slices.Contains(subscriptions, name) && resp3:
			why = "with RESP3 (-3) it is answered by push messages, which are no replies"
		case slices.Contains(subscriptions, name) && len(words) > 2:
			why = "it is answered once for each channel, and one reply is awaited (name one channel)"
		case name == "MONITOR", name == "SYNC", name == "PSYNC":
			why = "it makes the connection a stream without replies"
		case name == "CLIENT" && len(words) == 3 && strings.EqualFold(words[1], "REPLY") && !strings.EqualFold(words[2], "ON"):
			name, why = "CLIENT REPLY", "it keeps the server from answering"
		}
		if why != "" {
			return fmt.Errorf("%s cannot be measured: %s", name, why)
		}
	}
	return nil
}
