package report

import "strings"

// Results are the rounds that count, as results of tests called "SYSTEM STRATEGY MODE": so a suite can be
// compared with another one, round against round.
func (s *SuiteResult) Results() (list []*Result) {
	eachRound(s, func(sys *System, st *Strategy, mode string, r *Round) {
		if r.counts() {
			named := *r.Result
			named.Title, named.Mode = strings.Join([]string{sys.Name, st.Name, mode}, " "), ""
			list = append(list, &named)
		}
	})
	return list
}
