package main

import (
	"strings"

	"github.com/spf13/cobra"

	"respbench/workload"
)

// complete gives the shell the values of options that have a fixed set, which the table spells in arg as "a|b|c", and
// the tests of -t. The words of a command are the server's business: nothing is proposed for them.
func complete(root *cobra.Command, rows []row) {
	for i := range rows {
		if words := strings.Split(rows[i].arg, "|"); len(words) > 1 {
			// An error would mean a flag that does not exist; the rows have just been registered.
			_ = root.RegisterFlagCompletionFunc(rows[i].name(), cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	_ = root.RegisterFlagCompletionFunc("t", completeTests)
	root.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTests proposes a name behind the last comma.
func completeTests(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var list []string
	for _, name := range workload.TestNames() {
		list = append(list, before+name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
