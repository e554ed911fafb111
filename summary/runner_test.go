package summary

import (
	"strings"
	"testing"
	"unicode"
)

// runnerReads is what CI runners make of a line of log: the command's name, or "". It ports the parsers of
// the GitHub runner (src/Runner.Common/ActionCommand.cs: TryParseV2 for "::name key=value::data" at the start
// of a line after white space, TryParse for "##[name key=value;]data" anywhere) and that of the Azure agent
// for "##vso[area.event key=value;]data" and TeamCity's "##teamcity[name …]", but is stricter than they are:
// every name counts as registered, a command need not be closed, and characters that a comparison by the
// rules of a language skips are skipped.
func runnerReads(line string) string {
	line = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.M, unicode.Cf) {
			return -1
		}
		return r
	}, line)
	if rest, found := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); found {
		info, _, _ := strings.Cut(rest, "::")
		name, _, _ := strings.Cut(info, " ")
		return "::" + name
	}
	for _, prefix := range []string{"##[", "##vso[", "##teamcity["} {
		if _, rest, found := strings.Cut(strings.ToLower(line), prefix); found {
			info, _, _ := strings.Cut(rest, "]")
			name, _, _ := strings.Cut(info, " ")
			return prefix + name
		}
	}
	return ""
}

// The oracle finds what the runners' documentation gives as commands.
func TestRunnerOracle(t *testing.T) {
	for line, want := range map[string]string{
		"::error file=a.go,line=1::message":         "::error",
		"  \t::stop-commands::token":                "::stop-commands",
		"text ##[group]title":                       "##[group",
		"##vso[task.complete result=Failed;]":       "##vso[task.complete",
		"##VSO[task.complete]":                      "##vso[task.complete",
		"##teamcity[buildStatus text='x']":          "##teamcity[buildstatus",
		"a ::error::b is text to the GitHub runner": "",
		"\u200b:\u200e:error::x":                    "::error",
		"#\ufe0f#\u00ad[error]x":                    "##[error",
		`##\[group]`:                                "",
		"# heading":                                 "",
		":: ":                                       "::",
	} {
		if got := runnerReads(line); got != want {
			t.Errorf("runnerReads(%q) = %q, want %q", line, got, want)
		}
	}
}
